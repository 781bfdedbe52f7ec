"""Observe the tools of FastMCP servers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from fastmcp.tools import FunctionTool

from otel_toolerrors.telemetry import Tracing

from ._observation import Observation


def observe(tracing: Tracing) -> Callable[[], None]:
    """Watch every function tool of a server, before its error is put into other words."""
    observation = Observation(tracing)

    def around(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def run(self: Any, arguments: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
            with observation.watch(self.name, arguments):
                return await original(self, arguments, *args, **kwargs)

        return run

    observation.hook(FunctionTool, "run", around)
    return observation.end
