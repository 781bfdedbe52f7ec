"""A proposed change to the policy, the classification rules or the suggestion catalog, as data and as TOML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal

Target = Literal["policy", "rules", "catalog"]
"""The file that a change belongs to."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100
_VERDICT = frozenset({"code", "category", "passing", "side_effects", "telling", "why", "source"})
"""The keys of a rule that say what it concludes, not what it matches."""


@dataclass(frozen=True, slots=True)
class Change:
    """One key to set."""

    path: tuple[str, ...]
    """From the top of the file: ``("tools", "search", "retry", "max_attempts")``."""
    value: Any
    reason: str = ""

    def joined(self, other: Change) -> Change:
        """This one, and what a list in ``other`` adds to a list here."""
        if not (isinstance(self.value, list) and isinstance(other.value, list)):
            return self
        more = [item for item in other.value if item not in self.value]
        return Change(self.path, self.value + more, f"{self.reason}; {other.reason}" if more else self.reason)


@dataclass(frozen=True, slots=True)
class Row:
    """One table to add to an array of tables, such as a classification rule."""

    table: str
    keys: Mapping[str, Any]
    reason: str

    @property
    def matches(self) -> Mapping[str, Any]:
        """What the rule is about, whatever it says of that: of two rules about the same, only one can hold."""
        return matched(self.keys)


def matched(keys: Mapping[str, Any]) -> dict[str, Any]:
    """What the rule with these keys is about."""
    return {key: value for key, value in keys.items() if key not in _VERDICT}


@dataclass(frozen=True, slots=True)
class Patch:
    """What a finding or the tuner proposes to change in one file."""

    target: Target
    changes: tuple[Change, ...] = ()
    rows: tuple[Row, ...] = ()

    def toml(self) -> str:
        """The patch as TOML, each number under the reason for it."""
        return render(self.changes, self.rows)


def render(changes: Iterable[Change], rows: Iterable[Row] = ()) -> str:
    """Write changes as TOML: the reason as a comment above each key, one table for each path."""
    tables: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        tables.setdefault(change.path[:-1], []).append(change)
    blocks = [_table(path, tables[path]) for path in sorted(tables)]
    return "\n\n".join([*blocks, *map(_row, rows)]).rstrip() + "\n"


def comment(text: str) -> str:
    """``text`` as comment lines. What a trace says cannot end the comment: control characters are dropped."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return "\n".join(f"# {line}" for line in wrap(plain, _WIDTH)) or "#"


def merged(patches: Iterable[Patch], target: Target) -> Patch:
    """One patch for one file; where two set the same key or match the same, the first wins, and lists are joined."""
    own = [patch for patch in patches if patch.target == target]
    changes: dict[tuple[str, ...], Change] = {}
    for change in (change for patch in own for change in patch.changes):
        changes[change.path] = changes[change.path].joined(change) if change.path in changes else change
    rows = [row for patch in own for row in patch.rows]
    kept = [row for place, row in enumerate(rows) if row.matches not in [earlier.matches for earlier in rows[:place]]]
    return Patch(target, tuple(changes.values()), tuple(kept))


def document(changes: Iterable[Change]) -> dict[str, Any]:
    """The changes as the nested tables that a TOML reader would make of them."""
    top: dict[str, Any] = {}
    for change in changes:
        table = top
        for part in change.path[:-1]:
            table = table.setdefault(part, {})
        table[change.path[-1]] = change.value
    return top


def leaves(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give the keys of nested tables with their paths; None means unset."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, key))
        elif value is not None:
            yield (*path, key), value


def _table(path: tuple[str, ...], changes: Sequence[Change]) -> str:
    lines = [f"[{'.'.join(map(_key, path))}]"] if path else []
    for change in changes:
        lines += [comment(change.reason)] if change.reason else []
        lines.append(f"{_key(change.path[-1])} = {_value(change.value)}")
    return "\n".join(lines)


def _row(row: Row) -> str:
    lines = [*([comment(row.reason)] if row.reason else []), f"[[{_key(row.table)}]]"]
    return "\n".join([*lines, *(f"{_key(key)} = {_value(value)}" for key, value in row.keys.items())])


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case set() | frozenset():
            return _value(sorted(value))
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{ {', '.join(f'{_key(key)} = {_value(item)}' for key, item in value.items())} }}"
        case _:
            raise TypeError(f"cannot write {type(value).__name__} as TOML")


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\U{ord(char):08X}" for char in escaped) + '"'
