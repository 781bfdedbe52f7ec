"""The rules: one ordered table, ours in ``rules.toml``, the user's ahead of it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final, get_args

from otel_toolerrors.vocabulary import Category, SideEffects

from .patterns import BadPatternError, compile_pattern

_CATEGORIES: Final = frozenset(get_args(Category))
_SIDE_EFFECTS: Final = frozenset(get_args(SideEffects))
_CODE: Final = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*")
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CACHE_LIMIT: Final = 4_096

_TEXTS: Final = ("names", "types", "codes", "errno", "sqlstate", "message", "at")
_NUMBERS: Final = ("status", "jsonrpc", "exit", "reply", "close", "mysql")


class RuleError(ValueError):
    """A rule that cannot be used; the message names the file and the rule."""


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


@dataclass(eq=False)
class RuleSet:
    """Rules in order, indexed by what they match."""

    rules: tuple[Rule, ...]
    numbers: dict[str, dict[int | str, Rule]] = field(init=False, repr=False)
    errno: dict[str, Rule] = field(init=False, repr=False)
    sqlstate: dict[str, Rule] = field(init=False, repr=False)
    at: dict[str, Rule] = field(init=False, repr=False)
    messages: list[tuple[str | None, re.Pattern[str], Rule]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Build the indexes; the first rule that claims a key keeps it."""
        self.numbers = {kind: self._index(kind) for kind in _NUMBERS}
        self.errno, self.sqlstate, self.at = (self._index(kind) for kind in ("errno", "sqlstate", "at"))
        self.messages = [(*compile_pattern(p), rule) for rule in self.rules for p in rule.message]
        self._phrases = {
            kind: [
                (_needle(p), rule) for rule in self.rules for p in (*rule.names, *getattr(rule, kind)) if p == p.lower()
            ]
            for kind in ("types", "codes")
        }
        self._exact = {
            p: rule for rule in reversed(self.rules) for p in (*rule.types, *rule.codes, *rule.names) if p != p.lower()
        }
        self._codes: dict[str, Rule | None] = {}
        self._types: dict[str, Rule | None] = {}

    def _index(self, kind: str) -> dict[Any, Rule]:
        index: dict[Any, Rule] = {}
        for rule in self.rules:
            for key in getattr(rule, kind):
                index.setdefault(key, rule)
        return index

    def number(self, kind: str, value: int) -> Rule | None:
        """The rule for an HTTP status, exit status, …; a class such as ``5xx`` if the number has none."""
        table = self.numbers[kind]
        return table.get(value) or table.get(f"{value // 100}xx") or table.get("*")

    def code(self, name: str) -> Rule | None:
        """The rule for an error code."""
        return self._phrase("codes", self._codes, name)

    def type(self, name: str) -> Rule | None:
        """The rule for a class name."""
        return self._phrase("types", self._types, name)

    def _phrase(self, kind: str, cache: dict[str, Rule | None], name: str) -> Rule | None:
        try:
            return cache[name]
        except KeyError:
            pass
        words = f"^{phrase(name)}$"
        rule = self._exact.get(name) or next((r for needle, r in self._phrases[kind] if needle in words), None)
        if len(cache) >= _CACHE_LIMIT:  # codes are foreign text: they must not pile up
            cache.clear()
        cache[name] = rule
        return rule


def _needle(pattern: str) -> str:
    """What must occur in the words of a name; ``=`` asks for the whole of them."""
    if pattern.startswith("="):
        return f"^ {pattern[1:]} $"
    return " " + pattern.removesuffix("*") + ("" if pattern.endswith("*") else " ")


@functools.cache
def default_rules() -> tuple[Rule, ...]:
    """The rules that come with the package, in order."""
    text = resources.files(__package__).joinpath("rules.toml").read_text("utf-8")
    return tuple(_rules(tomllib.loads(text), "rules.toml", ours=True))


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
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RuleError(f"{path}: {error}") from error
    return tuple(_rules(document, str(path), ours=False))


def _rules(document: dict[str, Any], place: str, *, ours: bool) -> Iterable[Rule]:
    for number, row in enumerate(document.get("rule", ()), 1):
        where = f"{place}: rule {number} ({row.get('code', 'without a code')})"
        lists = {
            k: tuple(row[k]) if isinstance(row.get(k), list) else (row[k],)
            for k in (*_TEXTS, *_NUMBERS, "if_status")
            if k in row
        }
        try:
            rule = Rule(**(row | lists), ours=ours, place=where)
        except TypeError as error:
            raise RuleError(f"{where}: {error}") from error
        check_rule(rule)
        yield rule


def check_rule(rule: Rule) -> None:
    """Refuse a rule that cannot work. Raises RuleError."""
    where = rule.place or f"rule {rule.code}"
    if not _CODE.fullmatch(rule.code):
        raise RuleError(f"{where}: the code must be dotted lower-case words, as in 'timeout.read'")
    if rule.category not in _CATEGORIES:
        raise RuleError(f"{where}: unknown category {rule.category!r}; one of {', '.join(sorted(_CATEGORIES))}")
    if rule.side_effects not in _SIDE_EFFECTS:
        raise RuleError(
            f"{where}: unknown side_effects {rule.side_effects!r}; one of {', '.join(sorted(_SIDE_EFFECTS))}"
        )
    for pattern in rule.message:
        try:
            compile_pattern(pattern)
        except BadPatternError as error:
            raise RuleError(f"{where}: {error}") from error
