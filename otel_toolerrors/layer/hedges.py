"""Calling an async tool: once, within its time, and a second time beside the first when that is slow."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from otel_toolerrors.engine import Attempt
from otel_toolerrors.vocabulary import HedgeStarted

from .calling import CURRENT
from .tools import Tool


async def acall(tool: Tool, attempt: Attempt, sleep: Callable[[float], Awaitable[None]]) -> Any:
    """Make one attempt; ``sleep`` tells when the second try is due."""
    if attempt.timeout is None:
        return await _tried(tool, attempt, sleep)
    async with asyncio.timeout(attempt.timeout):
        return await _tried(tool, attempt, sleep)


async def _tried(tool: Tool, attempt: Attempt, sleep: Callable[[float], Awaitable[None]]) -> Any:
    if attempt.hedge_after is None:
        return await _once(tool, attempt)
    return await _hedged(tool, attempt, attempt.hedge_after, sleep)


async def _hedged(tool: Tool, attempt: Attempt, after: float, sleep: Callable[[float], Awaitable[None]]) -> Any:
    first = asyncio.ensure_future(_once(tool, attempt))
    alarm = asyncio.ensure_future(sleep(after))
    tries = [first]
    try:
        await asyncio.wait({first, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            _report(HedgeStarted(tool=attempt.tool, attempt=attempt.number, after=after))
            tries.append(asyncio.ensure_future(_once(tool, attempt)))
        return await _first_good(tries)
    finally:
        await _end(alarm, *tries)


def _report(event: HedgeStarted) -> None:
    if (calling := CURRENT.get()) is not None:
        calling.emit(event)


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
