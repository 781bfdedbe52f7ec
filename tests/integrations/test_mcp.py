import asyncio

import pytest

pytest.importorskip("mcp", reason="tests the adapters for MCP")

from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations
from opentelemetry import trace

from otel_toolerrors.integrations.mcp import RecoveringClient
from otel_toolerrors.testing import Bench

READS = ToolAnnotations(read_only_hint=True)
DESTROYS = ToolAnnotations(destructive_hint=True)


def _attempts(declared, hints, *, trusted):
    """Call a tool that always times out, and count the attempts."""
    bench = Bench()
    if declared is not None:
        bench.tool("ask", None, effects=declared)
    calls = []
    server = MCPServer("demo")

    @server.tool(annotations=hints)
    def ask() -> str:
        calls.append(1)
        raise MCPError(code=-32001, message="timed out")

    async def main():
        async with Client(server) as client:
            with bench.layer.run() as run:
                recovering = RecoveringClient(run, client, trusted=trusted)
                await recovering.list_tools()
                return await recovering.call_tool("ask", call_id="c1")

    assert asyncio.run(main()).is_error
    return len(calls)


@pytest.mark.parametrize(
    ("declared", "hints", "trusted", "attempts"),
    [
        (None, None, False, 1),
        (None, READS, False, 1),
        (None, READS, True, 3),
        ("read", READS, False, 3),
        ("read", None, False, 3),
        ("read", DESTROYS, False, 1),
        ("read", DESTROYS, True, 3),
        ("write", READS, True, 1),
    ],
)
def test_annotations_only_tighten(declared, hints, trusted, attempts):
    """A server cannot make its tool repeatable by calling it read-only; only code, policy, or trust can."""
    assert attempts == _attempts(declared, hints, trusted=trusted)


def test_timeout_is_a_result():
    """A request that times out, which raises in the client, gives a result that says so."""
    bench = Bench()
    server = MCPServer("demo")

    @server.tool()
    async def wait() -> str:
        await asyncio.Event().wait()
        return ""

    async def main():
        async with Client(server) as client:
            with bench.layer.run() as run:
                return await RecoveringClient(run, client).call_tool("wait", call_id="c1", read_timeout_seconds=0.05)

    result = asyncio.run(main())
    assert result.is_error
    assert ("transient", "unknown") == tuple(
        result.structured_content["error"][key] for key in ("category", "side_effects")
    )


def test_trace_context_travels():
    """The server is told which trace the call belongs to."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="a trace needs the SDK")
    bench = Bench(tracer_provider=sdk.TracerProvider(shutdown_on_exit=False))
    told = []
    server = MCPServer("demo")

    @server.tool()
    def ask(context: Context) -> str:
        told.append(context.request_context.meta)
        return "yes"

    async def main():
        async with Client(server) as client:
            with bench.layer.run() as run:
                await RecoveringClient(run, client).call_tool("ask", call_id="c1")
                return run.trace.trace_id

    trace_id = asyncio.run(main())
    assert 32 == len(trace_id)
    assert trace_id in str(told[0])
    assert not trace.get_current_span().is_recording()
