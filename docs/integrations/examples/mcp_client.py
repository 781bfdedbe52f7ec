"""An MCP client against a server whose tool is not well."""

import asyncio

from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

import otel_toolerrors as te
from otel_toolerrors.integrations.mcp import RecoveringClient

server = MCPServer("catalogue")
resets = iter([MCPError(code=-32000, message="Connection closed"), None])


@server.tool()
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


layer = te.RecoveryLayer(te.parse_policy('[tools.search]\neffects = "read"'))  # we know this server's tool


async def main() -> None:
    async with Client(server) as client:
        with layer.run(agent="host") as run:
            recovering = RecoveringClient(run, client)
            result = await recovering.call_tool("search", {"query": "lamps"}, call_id="call_1")
    print(result.content[0].text)


asyncio.run(main())
