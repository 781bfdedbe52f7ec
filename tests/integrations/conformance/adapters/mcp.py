"""An MCP client that recovers against a plain server, and a plain client against a guarded server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import URL_ELICITATION_REQUIRED, ElicitRequestURLParams

from otel_toolerrors.integrations.mcp import ENVELOPE, RecoveringClient
from otel_toolerrors.integrations.mcp_server import guard
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.loop import converse_with
from tests.integrations.conformance.stage import Seen, Stage


def _elicit() -> None:
    page = ElicitRequestURLParams(message="sign in", url="https://example.org/", elicitation_id="e1")
    raise UrlElicitationRequiredError([page])


def _passed_elicitation(error: BaseException) -> bool:
    return isinstance(error, MCPError) and error.code == URL_ELICITATION_REQUIRED


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """A server's author who tells what went wrong, as the SDK wants it: other errors' texts stay on the server."""

    async def tool(q: str) -> Any:
        try:
            return await function(q)
        except (PermissionError, ValueError) as error:
            raise ToolError(f"{type(error).__name__}: {error}") from error
        except ConnectionError as error:
            raise MCPError(code=-32000, message="Connection closed") from error

    return tool


def _client(stage: Stage) -> Seen:
    server = MCPServer("demo")
    for name, function in stage.functions.items():
        server.tool(name=name, structured_output=False)(_told(function))

    async def connected(use: Callable[..., Any]) -> None:
        async with Client(server) as client:
            with stage.layer.run() as run:
                recovering = RecoveringClient(run, client)

                async def call(tool: str, arguments: Any, call_id: str) -> tuple[str, bool]:
                    result = await recovering.call_tool(tool, arguments, call_id=call_id)
                    return result.content[0].text, result.is_error

                async def offered() -> list[str]:
                    return [tool.name for tool in (await recovering.list_tools()).tools]

                await use(call, offered, run)

    return converse_with(stage, connected, _passed_elicitation)


def _server(stage: Stage) -> Seen:
    server = MCPServer("demo")
    for name, function in stage.functions.items():
        declared = stage.layer.tools[name].declared
        in_band = stage.layer.tools[name].in_band
        stage.layer.tools._tools.pop(name)  # the guard registers it
        guarded = guard(
            stage.layer, effects=declared.effects, service=declared.service, fallback=declared.fallback, in_band=in_band
        )(function)
        server.tool(name=name, structured_output=False)(guarded)

    async def connected(use: Callable[..., Any]) -> None:
        async with Client(server) as client:

            async def call(tool: str, arguments: Any, _: str) -> tuple[str, bool]:
                result = await client.call_tool(tool, arguments)
                if result.is_error:
                    assert result.structured_content == result.meta[ENVELOPE]
                    assert tool == result.structured_content["tool"]
                return result.content[0].text, result.is_error

            async def offered() -> list[str]:
                return [tool.name for tool in (await client.list_tools()).tools]

            await use(call, offered)

    return converse_with(stage, connected, _passed_elicitation)


NOT_ITS_RUN = "a server does not own the run; the envelope tells the client, whose layer decides"

ADAPTERS = (
    Adapter(
        "MCP client",
        _client,
        asynchronous=True,
        interrupt=_elicit,
        impossible={"stream": "a tool's result is one message, which the server has collected"},
    ),
    Adapter(
        "MCP server",
        _server,
        asynchronous=True,
        interrupt=_elicit,
        impossible=dict.fromkeys(("permission", "run_breaker", "parallel", "degrade"), NOT_ITS_RUN),
    ),
)
