"""The last guard before OpenTelemetry: no failure of ours goes out to the caller, no unfit value goes in."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, wraps
from operator import attrgetter
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from otel_toolerrors.vocabulary import Scalar, attributes_of

LIMIT: Final = 4096
"""Characters of a text attribute; the rest is cut, with a mark."""

_CUT: Final = "…[cut]"
_INT64: Final = range(-(2**63), 2**63)

log = logging.getLogger("otel_toolerrors.telemetry")


class _Guarded(Protocol):
    def drop(self, error: Exception) -> None: ...


_S = TypeVar("_S", bound=_Guarded)
_P = ParamSpec("_P")


def guarded(method: Callable[Concatenate[_S, _P], None]) -> Callable[Concatenate[_S, _P], None]:
    """Keep what ``method`` raises from its caller, and tell ``self.drop`` instead."""

    @wraps(method)
    def safe(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a fault of telemetry never changes a tool's result
            self.drop(error)

    return safe


def render(record: object) -> dict[str, Scalar]:
    """Render a vocabulary record as attributes that every exporter can carry: flat scalars, text valid and bounded.

    One lone surrogate or oversized integer would make an exporter refuse the whole batch it is in.
    This runs for every call, and therefore makes one pass.
    """
    kind: type = type(record)
    keys, values_of = _reader(kind)
    attributes = {}
    for key, value in zip(keys.values(), values_of(record), strict=True):
        if value is None:
            continue
        fits = value.__class__ is str and len(value) <= LIMIT and value.isascii()
        attributes[key] = value if fits else _fit(value)
    return attributes


class Stencil:
    """Renders records of one kind in which most fields are always the same: those are rendered once.

    ``Stencil(Kind, a=1).filled(b=2)`` is ``render(Kind(a=1, b=2))``, and costs less.
    """

    def __init__(self, kind: type, **same: object) -> None:
        self._keys, _ = _reader(kind)
        self._same: dict[str, Scalar] = {}
        self._same = self.filled(**same)

    def filled(self, **fields: Any) -> dict[str, Scalar]:
        """Give the attributes of the record with these fields, as `render` does.

        Raises:
            KeyError: The record has no such field.
        """
        keys, attributes = self._keys, self._same.copy()
        for name, value in fields.items():
            if value is None:
                continue
            fits = value.__class__ is str and len(value) <= LIMIT and value.isascii()
            attributes[keys[name]] = value if fits else _fit(value)
        return attributes


@cache
def _reader(kind: type) -> tuple[dict[str, str], Callable[[object], tuple[Any, ...]]]:
    """Give the attribute of each field, and what reads all fields of a record at once."""
    keys = {name: attribute.key for name, attribute in attributes_of(kind).items()}
    return keys, attrgetter(*keys)


def _fit(value: Any) -> Scalar:
    kind = value.__class__
    if kind is bool or kind is float or (kind is int and value in _INT64):
        return value  # type: ignore[no-any-return]
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value) if value in _INT64 else _fit(f"{value:#x}")
    if isinstance(value, str):
        text = value if len(value) <= LIMIT else value[: LIMIT - len(_CUT)] + _CUT
        return text.encode("utf-8", "replace").decode()
    # Nobody vetted what its text would show; the type's name is enough to find the mistake.
    return f"<{type(value).__name__}>"
