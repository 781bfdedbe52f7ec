"""A FastMCP server with the middleware."""

import asyncio

from fastmcp import Client, FastMCP

import otel_toolerrors as te
from otel_toolerrors.integrations.fastmcp import RecoveryMiddleware

layer = te.RecoveryLayer()
server = FastMCP("catalogue", middleware=[RecoveryMiddleware(layer)])
resets = iter([ConnectionResetError("connection reset"), None])


@server.tool
@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


async def main() -> None:
    async with Client(server) as client:
        print((await client.call_tool("search", {"query": "lamps"})).content[0].text)


asyncio.run(main())
