"""A host's loop for adapters that make calls but know no model: the script's turns stand for the model's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.integrations.conformance.stage import Seen, Stage


def converse_with(
    stage: Stage, connected: Callable[[Callable[..., Any]], Awaitable[None]], passed: Callable[[BaseException], bool]
) -> Seen:
    """Play the turns. ``connected`` says how to call a tool; what is offered and which run it is, if there are such."""
    seen = Seen()

    async def use(call: Callable[..., Any], offered: Callable[..., Any] = _nothing, run: Any = None) -> None:
        async def make(ask: Any) -> None:
            seen.results[ask.call_id], seen.flags[ask.call_id] = await call(ask.tool, ask.arguments, ask.call_id)

        for turn in stage.turns:
            if run is not None and run.stopped:
                seen.final = run.stopped.message
                return
            seen.requests += 1
            seen.offered.append(await offered())
            if isinstance(turn, str):
                seen.final = turn
                return
            await asyncio.gather(*map(make, turn))

    async def conversation() -> None:
        try:
            await connected(use)
        except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
            seen.raised = _only(error)
            if passed(seen.raised):
                seen.continued = True

    stage.drive(conversation())
    return seen


async def _nothing() -> list[str]:
    return []


def _only(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
