"""What an attribute is, and how a dataclass field becomes one."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_type_hints

Scalar = str | int | float | bool
"""The only values we export: flat, because trace stores cannot query maps."""

Cardinality = Literal["low", "bounded", "high"]
"""low: a closed set. bounded: grows with your code (tools, codes). high: one per call; never a metric label."""

_TYPE_NAMES = {str: "string", int: "int", float: "double", bool: "boolean"}


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a span, an event or a metric, as the reference page shows it."""

    key: str
    type: str
    description: str
    example: Scalar
    unit: str = ""
    cardinality: Cardinality = "bounded"


_known: dict[type, dict[str, Attribute]] = {}


def attribute(
    key: str,
    description: str,
    example: Scalar,
    *,
    unit: str = "",
    cardinality: Cardinality = "bounded",
    default: Any = ...,
) -> Any:
    """Declare a dataclass field that is exported under ``key``; a ``None`` value is not exported."""
    metadata = {"key": key, "description": description, "example": example, "unit": unit, "cardinality": cardinality}
    if default is ...:
        return field(metadata=metadata)
    return field(metadata=metadata, default=default)


def attributes_of(record: type) -> dict[str, Attribute]:
    """Map each field name of a vocabulary dataclass to its attribute."""
    if record not in _known:
        _known[record] = _read(record)
    return _known[record]


def _read(record: Any) -> dict[str, Attribute]:
    hints = get_type_hints(record)
    return {
        f.name: Attribute(type=_type_name(hints[f.name]), **f.metadata) for f in fields(record) if "key" in f.metadata
    }


def to_attributes(record: object) -> dict[str, Scalar]:
    """Render a vocabulary dataclass as flat attributes, without the fields that are ``None``."""
    attributes = attributes_of(type(record)).items()
    return {attr.key: value for name, attr in attributes if (value := getattr(record, name)) is not None}


def _type_name(hint: Any) -> str:
    for candidate in (hint, *get_args(hint)):
        if candidate in _TYPE_NAMES:
            return _TYPE_NAMES[candidate]
    # A Literal's members tell its type.
    return _TYPE_NAMES[type(next(arg for arg in _literals(hint) if arg is not None))]


def _literals(hint: Any) -> list[Any]:
    members: list[Any] = []
    for arg in get_args(hint):
        members += _literals(arg) if get_args(arg) else [arg]
    return members
