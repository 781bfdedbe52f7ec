"""The last guard before OpenTelemetry: no failure of ours goes out to the caller, no unfit value goes in."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, Protocol, TypeVar

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
    reader = _readers.get(type(record)) or _reader(type(record))
    attributes = {}
    for key, value in zip(reader.keys, reader.values_of(record), strict=True):
        if value is None:
            continue
        kind = value.__class__
        if kind is str:
            fits = len(value) <= LIMIT and value.isascii()
        else:
            fits = kind is bool or kind is float or (kind is int and value in _INT64)
        attributes[key] = value if fits else _fit(value)
    return attributes


class _Reader(NamedTuple):
    keys: tuple[str, ...]
    values_of: Callable[[object], tuple[Any, ...]]
    """Reads all fields at once."""


_readers: dict[type, _Reader] = {}


def _reader(kind: type) -> _Reader:
    attributes = attributes_of(kind)
    reader = _Reader(tuple(attribute.key for attribute in attributes.values()), attrgetter(*attributes))
    return _readers.setdefault(kind, reader)


def _fit(value: Any) -> Scalar:
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value) if value in _INT64 else _fit(f"{value:#x}")
    if isinstance(value, str):
        text = value if len(value) <= LIMIT else value[: LIMIT - len(_CUT)] + _CUT
        return text.encode("utf-8", "replace").decode()
    # Nobody vetted what its text would show; the type's name is enough to find the mistake.
    return f"<{type(value).__name__}>"
