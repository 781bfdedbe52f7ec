"""Reading foreign objects without trusting them.

An exception may carry properties that raise, attributes of any type, texts of
any size. Every function here answers with a plain value or None.
"""

from __future__ import annotations

import asyncio
import enum
import re
from typing import Any

MAX_TEXT = 20_000
"""Characters of an error's text that are looked at."""

_ITEMS = 64  # entries of a foreign mapping or sequence that are looked at
_STATUS = re.compile(r"[1-5]\d\d(?!\d)")

# What a property may raise without meaning us; an interrupt of the user's passes through.
_FOREIGN = (Exception, SystemExit, GeneratorExit, asyncio.CancelledError)


def attribute(subject: object, name: str) -> Any:
    """The attribute's value, or None if it is absent or cannot be read."""
    try:
        return getattr(subject, name, None)
    except _FOREIGN:
        return None


def call(function: object) -> Any:
    """What a function without arguments returns, or None."""
    try:
        return function()  # type: ignore[operator]
    except _FOREIGN:
        return None


def instance_dict(subject: object) -> dict[str, Any]:
    """The subject's own attributes; empty where it has none."""
    found = attribute(subject, "__dict__")
    return found if type(found) is dict else {}


def is_exception(value: object) -> bool:
    """By its real class: a mock's claimed ``__class__`` does not count."""
    return issubclass(type(value), BaseException)


def text(value: object, limit: int = MAX_TEXT) -> str:
    """``str(value)``, cut; empty if it cannot be rendered."""
    try:
        rendered = str(value)
        return rendered[:limit] if type(rendered) is str else str.__getitem__(rendered, slice(limit))
    except _FOREIGN:
        return ""


def word(value: object) -> str | None:
    """A short string that may be an error code: a str's own value, an enum's name."""
    kind = type(value)
    if kind is not str:
        if issubclass(kind, bytes):
            return word(bytes(value[:100]).decode("latin-1"))  # type: ignore[index]
        name = attribute(value, "name") if issubclass(kind, enum.Enum) else None
        if type(name) is not str:
            return word(str.__str__(value)) if issubclass(kind, str) else None
        return name
    return value if 1 < len(value) <= 100 else None  # type: ignore[arg-type,return-value]


def attribute_names(kind: type) -> set[str]:
    """Names that the class and its bases define."""
    return {name for base in kind.__mro__ for name in base.__dict__}


def whole_number(value: object) -> int | None:
    """An int (an IntEnum too), never a bool."""
    kind = type(value)
    if kind is int:
        return value  # type: ignore[return-value]
    if kind is bool or not issubclass(kind, int):
        return None
    return int.__int__(value)  # type: ignore[arg-type]


def http_status(value: object) -> int | None:
    """A number from 100 to 599, given as int, enum, ``"503"`` or ``"404 Not Found"``."""
    if value is None:
        return None
    number = whole_number(value)
    if number is None:
        said = word(value) if issubclass(type(value), (str, bytes)) else None
        if said is None or not (match := _STATUS.match(said)):
            return None
        number = int(match.group())
    return number if 100 <= number <= 599 else None


def items(mapping: object) -> list[tuple[Any, Any]]:
    """The first entries of a mapping, or of a sequence of pairs."""
    found: list[tuple[Any, Any]] = []
    try:
        entries: Any = mapping.items() if hasattr(type(mapping), "items") else mapping  # type: ignore[attr-defined]
        for entry in entries:
            if len(found) >= _ITEMS:
                break
            if type(entry) is tuple or (issubclass(type(entry), tuple) and len(entry) == 2):
                key, value = entry[0], entry[1]
                found.append((key, value))
    except _FOREIGN:
        pass
    return found


def lowered(value: object) -> str | None:
    """A header's name or value as a lower-case str."""
    if issubclass(type(value), bytes):
        return bytes(value[:1000]).decode("latin-1").lower()  # type: ignore[index]
    if issubclass(type(value), str):
        return str.lower(value[:1000])  # type: ignore[index]
    if (number := whole_number(value)) is not None:
        return str(number) if abs(number) < 10**15 else None
    return None
