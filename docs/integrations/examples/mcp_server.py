"""A guarded tool of an MCP server: the client learns what went wrong, and what it may do about it."""

import asyncio
import json

from mcp import Client
from mcp.server.mcpserver import MCPServer

import otel_toolerrors as te
from otel_toolerrors.integrations.mcp_server import guard

layer = te.RecoveryLayer()
server = MCPServer("catalogue")


@server.tool()
@guard(layer, effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    raise ValueError("query must have at least three letters")


async def main() -> None:
    async with Client(server) as client:
        result = await client.call_tool("search", {"query": "la"})
    print(result.content[0].text)
    print(json.dumps(result.structured_content["error"], indent=2))


asyncio.run(main())
