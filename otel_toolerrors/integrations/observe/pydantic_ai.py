"""Observe pydantic-ai's function tools."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from pydantic_ai.toolsets import FunctionToolset

from otel_toolerrors.telemetry import Tracing

from ._observation import Observation


def observe(tracing: Tracing) -> Callable[[], None]:
    """Watch every function tool, inside of the framework's own span for it."""
    observation = Observation(tracing)

    def around(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def call_tool(self: Any, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
            with observation.watch(name, tool_args, call_id=ctx.tool_call_id):
                return await original(self, name, tool_args, ctx, tool)

        return call_tool

    observation.hook(FunctionToolset, "call_tool", around)
    return observation.end
