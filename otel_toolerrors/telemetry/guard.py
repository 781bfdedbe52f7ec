"""The last guard before OpenTelemetry: no failure of ours goes out to the caller, no unfit value goes in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from otel_toolerrors.vocabulary import Scalar

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


def fit(attributes: Mapping[str, Any]) -> Mapping[str, Scalar]:
    """Return ``attributes`` with values that every exporter can carry: flat scalars, text valid and bounded.

    One lone surrogate or oversized integer would make an exporter refuse the whole batch it is in.
    """
    if all(map(_is_fit, attributes.values())):
        return attributes
    return {str(key): _fit(value) for key, value in attributes.items()}


def _is_fit(value: Any) -> bool:
    kind = type(value)
    if kind is str:
        return len(value) <= LIMIT and value.isascii()
    return kind is bool or kind is float or (kind is int and value in _INT64)


def _fit(value: Any) -> Scalar:
    if isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return int(value) if value in _INT64 else _fit(f"{value:#x}")
    if isinstance(value, str):
        text = value if len(value) <= LIMIT else value[: LIMIT - len(_CUT)] + _CUT
        return text.encode("utf-8", "replace").decode()
    # Nobody vetted what its text would show; the type's name is enough to find the mistake.
    return f"<{type(value).__name__}>"
