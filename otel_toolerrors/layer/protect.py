"""Recovery for any function, without a model and without a framework."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from otel_toolerrors.policy import Declaration
from otel_toolerrors.surface import Outcome, RecoveryExhausted

from .calling import CURRENT
from .tools import InBand

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
    protection = _Protection(layer, function, known_as, declared, in_band, source)
    for is_kind, wrap in _KINDS:
        if is_kind(function):
            return cast("F", wraps(function)(wrap(protection, function)))
    raise TypeError(f"{function!r} is not callable")


@dataclass(frozen=True, slots=True)
class _Protection:
    layer: RecoveryLayer
    function: Callable[..., Any]
    name: str
    declared: Declaration
    in_band: InBand
    source: str

    def call(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_repeated():
            return target(*args, **kwargs)
        last = LastTry()
        named, attempt = self._attempt(partial(last.call, target), args, kwargs)
        outcome = self.layer.alone(source=self.source).call(
            self.name, named, function=attempt, declared=self.declared, in_band=self.in_band
        )
        return last.settle(outcome)

    async def acall(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if is_repeated():
            return await target(*args, **kwargs)
        last = LastTry()
        named, attempt = self._attempt(partial(last.acall, target), args, kwargs)

        async def awaited(**arguments: Any) -> Any:
            return await attempt(**arguments)

        outcome = await self.layer.alone(source=self.source).acall(
            self.name, named, function=wraps(attempt)(awaited), declared=self.declared, in_band=self.in_band
        )
        return last.settle(outcome)

    def _attempt(
        self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], Callable[..., Any]]:
        """Name the arguments for the trace and for fallbacks; the function gets them as they came."""
        signature = inspect.signature(self.function)
        named = dict(signature.bind(*args, **kwargs).arguments)

        def plain(**_: Any) -> Any:
            return target(*args, **kwargs)

        def keyed(*, idempotency_key: str, **_: Any) -> Any:
            return target(*args, **kwargs, idempotency_key=idempotency_key)

        wants_key = "idempotency_key" in signature.parameters and "idempotency_key" not in named
        return named, keyed if wants_key else plain


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
    (callable, _plain),
)


def _annotate(error: Exception, outcome: Outcome) -> None:
    note = f"{outcome.tool}: {outcome.attempts} attempt(s)"
    if (fault := outcome.fault) is not None:
        note += f", {fault.category}, {fault.code}"
        if fault.effects in ("write", "destructive"):
            note += f"; side effects: {fault.side_effects}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
