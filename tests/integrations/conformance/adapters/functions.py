"""Plain functions under ``layer.protect``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.integrations.conformance.adapter import NO_MODEL, NO_RUN, Adapter
from tests.integrations.conformance.loop import converse_with
from tests.integrations.conformance.stage import Seen, Stage


class Paused(BaseException):
    """A signal of the program's own."""


def _pause() -> None:
    raise Paused


def _converse(stage: Stage) -> Seen:
    protected = {}
    for name, function in stage.functions.items():
        tool = stage.layer.tools[name]
        how = {"effects": tool.declared.effects, "service": tool.declared.service, "fallback": tool.declared.fallback}
        protected[name] = stage.layer.protect(in_band=tool.in_band, **how)(function)

    async def connected(use: Callable[..., Any]) -> None:
        async def call(tool: str, arguments: Any, _: str) -> tuple[str, bool]:
            return await protected[tool](**arguments), False

        await use(call)

    return converse_with(stage, connected, lambda error: isinstance(error, Paused))


ADAPTERS = (
    Adapter(
        "layer.protect",
        _converse,
        asynchronous=True,
        interrupt=_pause,
        impossible={
            **dict.fromkeys(("validation", "secret", "huge", "mute"), NO_MODEL),
            **dict.fromkeys(("permission", "run_breaker", "degrade", "parallel"), NO_RUN),
            "stream": "a generator stays one: it is repeated until it has yielded, and not after",
        },
    ),
)
