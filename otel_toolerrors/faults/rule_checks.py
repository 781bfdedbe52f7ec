"""Rules that cannot work are refused, and the place is named."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, get_args

from otel_toolerrors.vocabulary import Category, SideEffects

from .patterns import check_pattern

if TYPE_CHECKING:
    from .rules import Rule

TEXTS: Final = ("names", "types", "codes", "errno", "sqlstate", "message", "at")
NUMBERS: Final = ("status", "jsonrpc", "exit", "reply", "close", "mysql", "curl")
"""A rule's fields that match something."""

_CODE: Final = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*")
_STATUS_CLASSES: Final = frozenset({"2xx", "3xx", "4xx", "5xx"})
_FOREIGN_ERRNO: Final = frozenset({"WSAECONNREFUSED", "ECOMM", "EREMOTEIO"})  # not every system has them
_ERRNO_NAMES: Final = (
    frozenset(name for name in dir(errno) if name[0] == "E")
    | _FOREIGN_ERRNO
    | {n for n in dir(socket) if n[:4] == "EAI_"}
)


class RuleError(ValueError):
    """A rule that cannot be used; the message names the file and the rule."""


def check_rules(rules: Iterable[Rule]) -> None:
    """Refuse rules that cannot work, each by itself or behind an earlier one. Raises RuleError."""
    claimed: dict[tuple[str, Any], Rule] = {}
    for rule in rules:
        _check(rule)
        for kind, key in _keys(rule):
            earlier = claimed.setdefault((kind, key), rule)
            if earlier is not rule:
                raise RuleError(f"{_where(rule)}: {kind} {key!r} never matches, {_where(earlier)} has it already")
            if kind in ("names", "types", "codes") and (shadow := _shadow(kind, key, rule, claimed)) is not None:
                raise RuleError(f"{_where(rule)}: {kind} {key!r} never matches, {_where(shadow)} matches all of it")


def _check(rule: Rule) -> None:
    for wrong, what in _MISTAKES:
        if (found := wrong(rule)) is not None:
            raise RuleError(f"{_where(rule)}: {what.format(found)}")
    for pattern in rule.message:
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise RuleError(f"{_where(rule)}: {error}") from error


def _bad_status(rule: Rule) -> int | str | None:
    """The first that is neither an HTTP status nor a class of them."""
    return next(
        (s for s in rule.status if s not in _STATUS_CLASSES and not (isinstance(s, int) and 100 <= s <= 599)), None
    )


def _where(rule: Rule) -> str:
    return rule.place or f"rule {rule.code}"


def _keys(rule: Rule) -> list[tuple[str, Any]]:
    """Everything the rule matches; a message with a condition is another message than one without."""
    keys: list[tuple[str, Any]] = [(kind, key) for kind in (*TEXTS, *NUMBERS) for key in getattr(rule, kind)]
    return [
        (f"{kind} if {rule.if_status}" if kind == "message" and rule.if_status else kind, key) for kind, key in keys
    ]


def _shadow(kind: str, key: str, rule: Rule, claimed: dict[tuple[str, Any], Rule]) -> Rule | None:
    """The earlier rule, if one matches every name that this key matches."""
    words = f" {key.removeprefix('=').removesuffix('*')} "
    for (other_kind, other), earlier in claimed.items():
        if earlier is rule or other_kind not in ("names", kind) or not isinstance(other, str) or other.startswith("="):
            continue
        needle = f" {other[:-1]}" if other.endswith("*") else f" {other} "
        if needle in words:
            return earlier
    return None


_MISTAKES: Final[tuple[tuple[Callable[[Rule], object | None], str], ...]] = (
    (
        lambda rule: None if _CODE.fullmatch(rule.code) else rule.code,
        "the code {0!r} is not of dotted lower-case words, as 'timeout.read' is",
    ),
    (
        lambda rule: None if rule.category in get_args(Category) else rule.category,
        f"unknown category {{0!r}}; one of {', '.join(get_args(Category))}",
    ),
    (
        lambda rule: None if rule.side_effects in get_args(SideEffects) else rule.side_effects,
        f"unknown side_effects {{0!r}}; one of {', '.join(get_args(SideEffects))}",
    ),
    (lambda rule: None if _keys(rule) else rule.code, "{0} matches nothing; give it names, a status, a message, …"),
    (_bad_status, "{0!r} is no HTTP status; a number from 100 to 599, or '4xx'"),
    (
        lambda rule: next((n for n in rule.errno if n not in _ERRNO_NAMES), None),
        "{0!r} is no errno; a name such as 'ECONNRESET'",
    ),
)
