"""A FastMCP server with the middleware, and FastMCP's client."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from fastmcp import Client, FastMCP

from otel_toolerrors.integrations.fastmcp import RecoveryMiddleware
from otel_toolerrors.integrations.mcp import ENVELOPE
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.adapters.mcp import NOT_ITS_RUN, _elicit, _passed_elicitation
from tests.integrations.conformance.loop import converse_with
from tests.integrations.conformance.stage import Seen, Stage

logging.getLogger("fastmcp").setLevel(logging.CRITICAL)  # it draws every error, however long, in a frame


def _converse(stage: Stage) -> Seen:
    server = FastMCP("demo", middleware=[RecoveryMiddleware(stage.layer)])
    for name, function in stage.functions.items():
        server.tool(function, name=name)

    async def connected(use: Callable[..., Any]) -> None:
        async with Client(server) as client:

            async def call(tool: str, arguments: Any, _: str) -> tuple[str, bool]:
                result = await client.call_tool(tool, arguments, raise_on_error=False)
                if result.is_error:
                    assert result.structured_content == result.meta[ENVELOPE]
                return result.content[0].text, result.is_error

            async def offered() -> list[str]:
                return [tool.name for tool in await client.list_tools()]

            await use(call, offered)

    return converse_with(stage, connected, _passed_elicitation)


ADAPTERS = (
    Adapter(
        "FastMCP server",
        _converse,
        asynchronous=True,
        interrupt=_elicit,
        impossible={
            **dict.fromkeys(("permission", "run_breaker", "parallel", "degrade"), NOT_ITS_RUN),
            "stream": "FastMCP collects the parts itself, and writes them as a list",
        },
    ),
)
