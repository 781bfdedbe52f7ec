"""Message patterns: compiled once, refused if they could run away.

A pattern is tried only on texts that contain its trigger, a word that every
match must contain: most texts touch only a handful of patterns.
"""

from __future__ import annotations

import re
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_UNBOUNDED_LIMIT = 2
_REPEATS = {sre.MAX_REPEAT, sre.MIN_REPEAT}
_MANY = 256  # a repeat that may run this often counts as unbounded


class BadPatternError(ValueError):
    """A regular expression that does not compile, or whose time is not bounded."""


def compile_pattern(pattern: str) -> tuple[str | None, re.Pattern[str]]:
    """The pattern's trigger word, if it has one, and the compiled pattern.

    Raises BadPatternError for a pattern that does not compile, repeats a
    repeat, or chains more than two unbounded repeats.
    """
    try:
        parsed = _parser.parse(pattern, re.IGNORECASE)
        compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPatternError(f"the pattern {pattern!r} does not compile: {error}") from error
    if _unbounded(parsed, inside=False) > _UNBOUNDED_LIMIT:
        raise BadPatternError(f"the pattern {pattern!r} chains too many unbounded repeats; bound them, as in .{{1,60}}")
    if compiled.match(""):
        raise BadPatternError(f"the pattern {pattern!r} matches the empty text")
    return _trigger(parsed), compiled


def _unbounded(parsed: Any, *, inside: bool) -> int:
    """Number of unbounded repeats; refuses one inside another."""
    count = 0
    for op, argument in parsed:
        if op in _REPEATS:
            _, most, body = argument
            many = most is sre.MAXREPEAT or most >= _MANY
            inner = _unbounded(body, inside=inside or many)
            if many and (inside or inner or _branches(body)):
                raise BadPatternError(
                    "a repeat inside an unbounded repeat can take exponential time; bound one of them"
                )
            count += inner + many
        elif op is sre.SUBPATTERN:
            count += _unbounded(argument[-1], inside=inside)
        elif op is sre.BRANCH:
            count += max(_unbounded(branch, inside=inside) for branch in argument[1])
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            count += _unbounded(argument[1], inside=inside)
        elif op is sre.GROUPREF:
            raise BadPatternError("back-references are not allowed")
    return count


def _branches(parsed: Any) -> bool:
    return any(op is sre.BRANCH or (op is sre.SUBPATTERN and _branches(argument[-1])) for op, argument in parsed)


def _trigger(parsed: Any) -> str | None:
    """The longest run of letters that every match contains as (part of) a word."""
    best, run = "", ""
    for op, argument in parsed:
        if op is sre.LITERAL and chr(argument).isalpha():
            run += chr(argument).lower()
            best = max(best, run, key=len)
            continue
        run = ""
        if op is sre.SUBPATTERN:
            inner = _trigger(argument[-1]) or ""
            best = max(best, inner, key=len)
    return best if len(best) > 2 else None
