"""Message patterns: refused if they could run away, tried only where they might match.

A pattern is tried only on texts with a word that begins with its trigger, and
that contain the longest part that every match has: most texts touch one or two.
"""

from __future__ import annotations

import functools
import importlib
import re
from typing import Any, Final

# The parser behind `re` sees a pattern's structure; it has no public name.
_sre: Final = importlib.import_module("re._constants")
_parser: Final = importlib.import_module("re._parser")

_UNBOUNDED_LIMIT: Final = 2  # more of them in a row cost cubic time
_MANY: Final = 256  # a repeat that may run this often counts as unbounded
_REPEATS: Final = frozenset({_sre.MAX_REPEAT, _sre.MIN_REPEAT})
_EDGE: Final = "\0"  # of a word or the text
_WORD_STARTS: Final = re.compile(rf"(?<=[ _\-{_EDGE}])[a-z]{{2,}}")
_UNKNOWN: Final = re.compile(rf"[.{_EDGE}]")
_FIRST_GROUP: Final = re.compile(r"(?:\^|\\b)?\(\?:([^()\[\]]+)\)(?![?*{])")
_START: Final = re.compile(r"([a-zA-Z]{2,})(?![?*{])")


class BadPatternError(ValueError):
    """A regular expression that does not compile, or whose time is not bounded."""


@functools.lru_cache(maxsize=2_048)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled at its first use."""
    return re.compile(pattern, re.IGNORECASE)


def check_pattern(pattern: str) -> None:
    """Refuse what cannot be used. Raises BadPatternError.

    Refused: a pattern that does not compile, matches the empty text, repeats
    what is repeated or branched without bound (exponential time), chains more
    than two unbounded repeats (cubic time), or refers back to a group.
    """
    try:
        parsed = _parser.parse(pattern, re.IGNORECASE)
        usable = compiled(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPatternError(f"the pattern {pattern!r} does not compile: {error}") from error
    if _unbounded(parsed, pattern, inside=False) > _UNBOUNDED_LIMIT:
        raise BadPatternError(f"the pattern {pattern!r} chains too many unbounded repeats; bound them, as in .{{1,60}}")
    if usable.match(""):
        raise BadPatternError(f"the pattern {pattern!r} matches the empty text")


def triggers(pattern: str) -> tuple[str, ...]:
    """Letters, one of which a word of every match begins with; empty if the pattern does not tell."""
    flat = _flattened(pattern)
    if "|" not in flat and (found := _WORD_STARTS.findall(_EDGE + flat)):
        return (max(found, key=len),)
    if (group := _FIRST_GROUP.match(pattern)) is not None:
        starts = [_START.match(branch) for branch in group[1].split("|")]
        if all(starts):
            return tuple({start[1].lower() for start in starts if start is not None})
    return ()


def required(pattern: str) -> str:
    """The longest part, in lower case, that every match contains; empty if the pattern does not tell."""
    flat = _flattened(pattern)
    return "" if "|" in flat else max(_UNKNOWN.split(flat), key=len)


@functools.lru_cache(maxsize=1)  # both questions are asked in a row
def _flattened(pattern: str) -> str:
    """The pattern with everything masked that is in brackets, escaped, or need not be there."""
    flat: list[str] = []
    depth, index = 0, 0
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
            char = _EDGE if pattern[index : index + 1] == "b" else "."
        elif char in "^$":
            char = _EDGE
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            char = "."
        elif char in "?*+{" and depth == 0 and flat:
            flat[-1] = flat[-1] if char == "+" else "."  # the letter before it need not be there
            index = pattern.find("}", index) if char == "{" else index
            char = "."
        flat.append(char if depth == 0 else ".")
        index += 1
    return "".join(flat).lower()


def _unbounded(parsed: Any, pattern: str, *, inside: bool) -> int:
    """Number of unbounded repeats in a row; refuses one inside another."""
    count = 0
    for op, argument in parsed:
        if op in _REPEATS:
            _, most, body = argument
            many = most is _sre.MAXREPEAT or most >= _MANY
            inner = _unbounded(body, pattern, inside=inside or many)
            if many and (inside or inner or _branches(body)):
                raise BadPatternError(
                    f"the pattern {pattern!r} repeats a repeat, which can take exponential time; bound one of them"
                )
            count += inner + many
        elif op is _sre.SUBPATTERN:
            count += _unbounded(argument[-1], pattern, inside=inside)
        elif op is _sre.BRANCH:
            count += max(_unbounded(branch, pattern, inside=inside) for branch in argument[1])
        elif op in (_sre.ASSERT, _sre.ASSERT_NOT):
            count += _unbounded(argument[1], pattern, inside=inside)
        elif op in (_sre.GROUPREF, _sre.GROUPREF_EXISTS):
            raise BadPatternError(f"the pattern {pattern!r} refers back to a group, which cannot be bounded")
    return count


def _branches(parsed: Any) -> bool:
    return any(op is _sre.BRANCH or (op is _sre.SUBPATTERN and _branches(argument[-1])) for op, argument in parsed)
