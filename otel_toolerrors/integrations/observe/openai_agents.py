"""Observe the function tools of the OpenAI Agents SDK."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

import agents.tool

from otel_toolerrors.layer.watch import Watched
from otel_toolerrors.telemetry import Tracing

from ._observation import Observation

_WATCHED: ContextVar[Watched | None] = ContextVar("toolerrors-watched", default=None)


def observe(tracing: Tracing) -> Callable[[], None]:
    """Watch every function tool.

    The SDK turns an error into a sentence where it calls the tool; both places that we hook are its own, not its
    public interface, for there is no other at which the error is still whole.
    """
    observation = Observation(tracing)

    def invoker(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def invoke(self: Any, ctx: Any, arguments: str) -> Any:
            with observation.watch(ctx.tool_name, {"arguments": arguments}, call_id=ctx.tool_call_id) as seen:
                _WATCHED.set(seen)
                return await original(self, ctx, arguments)

        return invoke

    def handler(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def handle(*, function_tool: Any, context: Any, error: BaseException) -> Any:
            if (seen := _WATCHED.get()) is not None:
                seen.raised(error)
            return await original(function_tool=function_tool, context=context, error=error)

        return handle

    observation.hook(agents.tool._FailureHandlingFunctionToolInvoker, "__call__", invoker)  # noqa: SLF001 - see above
    observation.hook(agents.tool, "maybe_invoke_function_tool_failure_error_function", handler)
    return observation.end
