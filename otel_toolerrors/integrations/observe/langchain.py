"""Observe LangChain's tools, and so LangGraph's."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from otel_toolerrors.integrations._through import reported
from otel_toolerrors.layer.watch import Watched
from otel_toolerrors.telemetry import Tracing

from ._observation import Observation


def observe(tracing: Tracing) -> Callable[[], None]:
    """Watch every tool as it runs, whoever runs it."""
    observation = Observation(tracing)

    def watch(tool: BaseTool, tool_input: Any, kwargs: dict[str, Any]) -> Watched:
        arguments = tool_input if isinstance(tool_input, dict) else {"input": tool_input}
        return observation.watch(tool.name, arguments, call_id=kwargs.get("tool_call_id"))

    def sync(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def run(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
            with watch(self, tool_input, kwargs) as seen:
                return _looked_at(original(self, tool_input, *args, **kwargs), seen)

        return run

    def asynchronous(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def arun(self: BaseTool, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
            with watch(self, tool_input, kwargs) as seen:
                return _looked_at(await original(self, tool_input, *args, **kwargs), seen)

        return arun

    observation.hook(BaseTool, "run", sync)
    observation.hook(BaseTool, "arun", asynchronous)
    return observation.end


def _looked_at(result: Any, seen: Watched) -> Any:
    if isinstance(result, ToolMessage) and result.status == "error":
        seen.returned(reported(result.content))
    return result
