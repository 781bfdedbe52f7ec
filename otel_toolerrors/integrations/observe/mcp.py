"""Observe MCP: the calls of clients, and the tools of servers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp import ClientSession
from mcp.server.mcpserver.tools import Tool

from otel_toolerrors.integrations._through import reported
from otel_toolerrors.telemetry import Tracing

from ._observation import Observation


def observe(tracing: Tracing) -> Callable[[], None]:
    """Watch every call of a client's session, and every tool of a server."""
    observation = Observation(tracing)

    def client(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def call_tool(self: Any, name: str, arguments: Any = None, *args: Any, **kwargs: Any) -> Any:
            with observation.watch(name, arguments) as seen:
                result = await original(self, name, arguments, *args, **kwargs)
                if getattr(result, "is_error", False):
                    seen.returned(reported(result.content, result.structured_content))
                return result

        return call_tool

    def server(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def run(self: Any, arguments: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
            with observation.watch(self.name, arguments):
                return await original(self, arguments, *args, **kwargs)

        return run

    observation.hook(ClientSession, "call_tool", client)
    observation.hook(Tool, "run", server)
    return observation.end
