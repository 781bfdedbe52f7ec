"""The rules: one ordered table, ours in ``rules.toml``, the user's ahead of it."""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from otel_toolerrors.vocabulary import Category, SideEffects

from .memo import Memo
from .patterns import required, triggers
from .rule_checks import NUMBERS, TEXTS, RuleError, check_rules
from .toml import read_toml

if TYPE_CHECKING:
    from .evidence import Hit

_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_NAMED_STATUS: Final = re.compile(r"(?:http|status|error|code)_?([3-5]\d\d)(?!\d)", re.IGNORECASE)
_LOWER_WORDS: Final = re.compile(r"[a-z]{2,}")
_ROOM: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One meaning, and how each signal spells it. The fields are explained in ``rules.toml``."""

    code: str
    category: Category
    passing: bool
    side_effects: SideEffects = "unknown"
    why: str = ""
    source: str = ""
    vague: bool = False
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    status: tuple[int | str, ...] = ()
    errno: tuple[str, ...] = ()
    sqlstate: tuple[str, ...] = ()
    jsonrpc: tuple[int, ...] = ()
    exit: tuple[int | str, ...] = ()
    reply: tuple[int | str, ...] = ()
    close: tuple[int, ...] = ()
    mysql: tuple[int, ...] = ()
    curl: tuple[int, ...] = ()
    message: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    if_status: tuple[int, ...] = ()
    telling: bool = False
    own_words: bool = False
    ours: bool = False
    place: str = ""


def phrase(name: str) -> str:
    """A class name or an error code as words: ``ReadTimeout`` and ``READ_TIMEOUT`` are `` read timeout ``."""
    return f" {' '.join(_WORDS.findall(name)).lower()} "


class RuleSet:
    """Rules in order, indexed by what they match. The first rule that matches a key has it."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Check the user's rules and build the indexes. Raises RuleError."""
        self.rules = tuple(rules)
        check_rules(rule for rule in self.rules if not rule.ours)  # ours are checked by the tests
        self.errno: dict[str, Rule] = self._index("errno")
        self.at: dict[str, Rule] = self._index("at")
        self._sqlstate: dict[str, Rule] = self._index("sqlstate")
        self._numbers: dict[str, dict[int | str, Rule]] = {kind: self._index(kind) for kind in NUMBERS}
        self._patterns = [
            (required(pattern) if rule.ours else "", pattern, rule)  # the user's may match within a word
            for rule in self.rules
            for pattern in rule.message
        ]
        self._always: set[int] = set()
        self._words: Memo[str, tuple[int, ...]] = Memo(_ROOM)
        self.heard: Memo[tuple[str, int | None], tuple[Hit, ...]] = Memo(_ROOM // 4)
        """What texts say beside an HTTP status."""
        self.named: weakref.WeakKeyDictionary[type, tuple[Hit, ...]] = weakref.WeakKeyDictionary()
        """What the names of classes say; classes may be made on the fly."""
        self._triggered: dict[str, list[tuple[str, int]]] = {}
        for number, (_, pattern, rule) in enumerate(self._patterns):
            starts = triggers(pattern) if rule.ours else ()
            for start in starts:
                self._triggered.setdefault(start[:2], []).append((start, number))
            if not starts:
                self._always.add(number)
        self._types = _Phrases(self.rules, "types")
        self._codes = _Phrases(self.rules, "codes")

    def patterns(self, text: str) -> list[tuple[str, Rule]]:
        """The message patterns that a lower-case text may match, in order."""
        found = self._always.copy()
        known = self._words
        for word in _LOWER_WORDS.findall(text):
            begun = known.get(word)
            if begun is None:
                begun = self._begun_by(word)
            if begun:
                found.update(begun)
        candidates = [self._patterns[number] for number in sorted(found)]
        return [(pattern, rule) for part, pattern, rule in candidates if part in text]

    def _begun_by(self, word: str) -> tuple[int, ...]:
        """The patterns that the word may be the beginning of."""
        begun = tuple(number for start, number in self._triggered.get(word[:2], ()) if word.startswith(start))
        return self._words.keep(word, begun)

    def number(self, kind: str, value: int) -> Rule | None:
        """The rule for an HTTP status, an exit status, …; for its class, as ``5xx``, if the number has none."""
        table = self._numbers[kind]
        return table.get(value) or table.get(f"{value // 100}xx") or table.get("*")

    def state(self, state: str) -> Rule | None:
        """The rule for a SQLSTATE, or for its class."""
        if len(state) != 5 or not state.isalnum() or state != state.upper():
            return None
        return self._sqlstate.get(state) or self._sqlstate.get(state[:2])

    def code(self, name: str) -> Rule | None:
        """The rule for an error code."""
        return self._codes.find(name) or self.state(name)

    def type(self, name: str) -> Rule | None:
        """The rule for a class name; one that carries an HTTP status, as ``Http404``, has that status's."""
        rule = self._types.find(name)
        if rule is None and (status := _NAMED_STATUS.search(name)) is not None:
            return self.number("status", int(status[1]))
        return rule

    def _index(self, kind: str) -> dict[Any, Rule]:
        index: dict[Any, Rule] = {}
        for rule in self.rules:
            for key in getattr(rule, kind):
                index.setdefault(key, rule)
        return index


class _Phrases:
    """Finds the first rule whose phrase occurs in a name."""

    def __init__(self, rules: tuple[Rule, ...], kind: str) -> None:
        self._exact: dict[str, tuple[int, Rule]] = {}
        self._by_word: dict[str, list[tuple[int, str, Rule]]] = {}
        self._stems: list[tuple[int, str, Rule]] = []
        self._known: Memo[str, Rule | None] = Memo(_ROOM)
        for order, rule in enumerate(rules):
            for pattern in (*rule.names, *getattr(rule, kind)):
                self._add(order, pattern, rule)

    def _add(self, order: int, pattern: str, rule: Rule) -> None:
        if pattern != pattern.lower():
            self._exact.setdefault(pattern, (order, rule))  # a class name as it is written
        elif pattern.startswith("="):
            self._exact.setdefault(f" {pattern[1:]} ", (order, rule))
        elif " " in pattern or not pattern.endswith("*"):
            needle = f" {pattern[:-1]}" if pattern.endswith("*") else f" {pattern} "
            self._by_word.setdefault(pattern.partition(" ")[0], []).append((order, needle, rule))
        else:
            self._stems.append((order, f" {pattern[:-1]}", rule))

    def find(self, name: str) -> Rule | None:
        try:
            return self._known[name]
        except KeyError:
            pass
        words = phrase(name)
        found = [hit for key in (name, words) if (hit := self._exact.get(key)) is not None]
        found += [
            (order, rule)
            for word in words.split()
            for order, needle, rule in self._by_word.get(word, ())
            if needle in words
        ]
        found += [(order, rule) for order, stem, rule in self._stems if stem in words]
        rule = min(found, key=lambda hit: hit[0])[1] if found else None
        return self._known.keep(name, rule)


@functools.cache
def default_rules() -> tuple[Rule, ...]:
    """The rules that come with the package, in order."""
    text = resources.files(__package__).joinpath("rules.toml").read_text("utf-8")
    return tuple(_rules(read_toml(text), "rules.toml", ours=True))


@functools.cache
def default_rule_set() -> RuleSet:
    """The package's rules, indexed."""
    return RuleSet(default_rules())


def rule_set(rules: RuleSet | Sequence[Rule] | None) -> RuleSet:
    """The user's rules ahead of ours."""
    if rules is None:
        return default_rule_set()
    return rules if isinstance(rules, RuleSet) else RuleSet((*rules, *default_rules()))


def load_rules(path: str | Path) -> tuple[Rule, ...]:
    """Read rules from a TOML file of ``[[rule]]`` tables. Raises RuleError naming the file and the rule."""
    path = Path(path)
    try:
        document = read_toml(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RuleError(f"{path}: {error}") from error
    rules = tuple(_rules(document, str(path), ours=False))
    check_rules(rules)
    return rules


def _rules(document: dict[str, Any], place: str, *, ours: bool) -> Iterable[Rule]:
    rows = document.get("rule", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise RuleError(f"{place}: rule is no list of tables: begin each one with [[rule]]")
    for number, row in enumerate(rows, 1):
        where = f"{place}: rule {number} ({row.get('code', 'without a code')})"
        lists = {
            k: tuple(row[k]) if isinstance(row.get(k), list) else (row[k],)
            for k in (*TEXTS, *NUMBERS, "if_status")
            if k in row
        }
        try:
            rule = Rule(**(row | lists), ours=ours, place=where)
        except TypeError as error:
            said = str(error).replace("Rule.__init__() got an unexpected keyword argument", "unknown key")
            raise RuleError(f"{where}: {said}") from error
        yield rule
