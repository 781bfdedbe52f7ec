"""Calling an async tool: once, within its time, and a second time beside the first when that is slow."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from otel_toolerrors.engine import Attempt
from otel_toolerrors.vocabulary import Event, HedgeStarted

from .tools import Tool


class Hedges:
    """Makes the attempts of one async call."""

    __slots__ = ("_emit", "_sleep")

    def __init__(self, sleep: Callable[[float], Awaitable[None]], emit: Callable[[Event], None]) -> None:
        self._sleep = sleep
        self._emit = emit

    async def call(self, tool: Tool, attempt: Attempt) -> Any:
        """Make one attempt."""
        async with asyncio.timeout(attempt.timeout):
            if attempt.hedge_after is None:
                return await _once(tool, attempt)
            return await self._hedged(tool, attempt, attempt.hedge_after)

    async def _hedged(self, tool: Tool, attempt: Attempt, after: float) -> Any:
        first = asyncio.ensure_future(_once(tool, attempt))
        alarm = asyncio.ensure_future(self._sleep(after))
        tries = [first]
        try:
            await asyncio.wait({first, alarm}, return_when=asyncio.FIRST_COMPLETED)
            if not first.done():
                self._emit(HedgeStarted(tool=attempt.tool, attempt=attempt.number, after=after))
                tries.append(asyncio.ensure_future(_once(tool, attempt)))
            return await _first_good(tries)
        finally:
            await _end(alarm, *tries)


async def _once(tool: Tool, attempt: Attempt) -> Any:
    if tool.is_async:
        return await tool.function(**attempt.arguments)
    value = await asyncio.to_thread(tool.function, **attempt.arguments)
    return await value if inspect.isawaitable(value) else value


async def _first_good(tries: Sequence[asyncio.Future[Any]]) -> Any:
    """Give the first value; if every try fails, what the first one raised."""
    waiting = set(tries)
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            if not one.cancelled() and one.exception() is None:
                return one.result()
    return tries[0].result()


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
