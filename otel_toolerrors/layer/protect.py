"""Recovery for any function, without a model and without a framework."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from otel_toolerrors.policy import Declaration
from otel_toolerrors.surface import Outcome, RecoveryExhausted

from .calling import CURRENT
from .tools import KEY_PARAMETER, InBand

if TYPE_CHECKING:
    from .layer import RecoveryLayer

F = TypeVar("F", bound=Callable[..., Any])

_END = object()
_NOTHING = object()


class LastTry:
    """What the function itself said last: whoever gets no good value is told exactly that."""

    def __init__(self) -> None:
        self._error: Exception | None = None
        self._value: Any = _NOTHING

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call, and remember."""
        self._error, self._value = None, _NOTHING
        try:
            self._value = function(*args, **kwargs)
        except Exception as error:
            self._error = error
            raise
        return self._value

    async def acall(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Await, and remember."""
        self._error, self._value = None, _NOTHING
        try:
            self._value = await function(*args, **kwargs)
        except Exception as error:
            self._error = error
            raise
        return self._value

    def settle(self, outcome: Outcome) -> Any:
        """Give the good value; else return or raise what the function did last.

        Raises:
            RecoveryExhausted: The function was not called at all.
        """
        if outcome.ok:
            return outcome.value
        if self._error is not None:
            error, self._error = self._error, None
            _annotate(error, outcome)
            raise error
        if self._value is not _NOTHING:
            return self._value
        raise RecoveryExhausted(outcome)


def is_repeated() -> bool:
    """Whether this code is part of a call that may be repeated as a whole: repeating parts of it would multiply."""
    current = CURRENT.get()
    return current is not None and current.repeats


def protected(
    layer: RecoveryLayer, function: F, *, name: str | None, declared: Declaration, in_band: InBand, source: str
) -> F:
    """Wrap a function, an async function, or a generator of either kind."""
    known_as = name or str(getattr(function, "__name__", type(function).__name__))
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    signature = inspect.signature(function)
    protection = _Protection(layer, signature, known_as, declared, in_band, source)
    wrap = next((wrap for is_kind, wrap in _KINDS if is_kind(function)), _plain)
    return cast("F", wraps(function)(wrap(protection, function)))


@dataclass(frozen=True, slots=True)
class _Protection:
    layer: RecoveryLayer
    signature: inspect.Signature
    name: str
    declared: Declaration
    in_band: InBand
    source: str

    def call(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_repeated():
            return target(*args, **kwargs)
        last, named = LastTry(), self._named(args, kwargs)

        def plain(**_: Any) -> Any:
            return last.call(target, *args, **kwargs)

        def keyed(*, idempotency_key: str, **_: Any) -> Any:
            return last.call(target, *args, **kwargs, idempotency_key=idempotency_key)

        function = keyed if self._wants_key(named) else plain
        outcome = self.layer.alone(source=self.source).call(
            self.name, named, function=function, declared=self.declared, in_band=self.in_band
        )
        return last.settle(outcome)

    async def acall(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_repeated():
            return await target(*args, **kwargs)
        last, named = LastTry(), self._named(args, kwargs)

        async def plain(**_: Any) -> Any:
            return await last.acall(target, *args, **kwargs)

        async def keyed(*, idempotency_key: str, **_: Any) -> Any:
            return await last.acall(target, *args, **kwargs, idempotency_key=idempotency_key)

        function = keyed if self._wants_key(named) else plain
        outcome = await self.layer.alone(source=self.source).acall(
            self.name, named, function=function, declared=self.declared, in_band=self.in_band
        )
        return last.settle(outcome)

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Name the arguments for the trace and for fallbacks; the function gets them as they came."""
        return self.signature.bind(*args, **kwargs).arguments

    def _wants_key(self, named: dict[str, Any]) -> bool:
        return KEY_PARAMETER in self.signature.parameters and KEY_PARAMETER not in named


def _plain(protection: _Protection, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return protection.call(function, args, kwargs)

    return call


def _async(protection: _Protection, function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await protection.acall(function, args, kwargs)

    return call


def _generator(protection: _Protection, function: Callable[..., Any]) -> Callable[..., Any]:
    """An attempt of a generator ends with its first item: what has been handed over cannot be taken back."""

    def begin(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        items = function(*args, **kwargs)
        return next(items, _END), items

    def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:
        first, rest = protection.call(begin, args, kwargs)
        with closing(rest):
            if first is not _END:
                yield first
                yield from rest

    return stream


def _async_generator(protection: _Protection, function: Callable[..., Any]) -> Callable[..., Any]:
    async def begin(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        items = function(*args, **kwargs)
        return await anext(items, _END), items

    async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        first, rest = await protection.acall(begin, args, kwargs)
        async with aclosing(rest):
            if first is not _END:
                yield first
                async for item in rest:
                    yield item

    return stream


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[_Protection, Callable[..., Any]], Callable[..., Any]]], ...] = (
    (inspect.isasyncgenfunction, _async_generator),
    (inspect.isgeneratorfunction, _generator),
    (inspect.iscoroutinefunction, _async),
)


def _annotate(error: Exception, outcome: Outcome) -> None:
    note = f"{outcome.tool}: {outcome.attempts} attempt(s)"
    if (fault := outcome.fault) is not None:
        note += f", {fault.category}, {fault.code}"
        if fault.effects in ("write", "destructive"):
            note += f"; side effects: {fault.side_effects}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
