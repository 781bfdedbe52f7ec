"""FastMCP: a middleware for a server."""

from __future__ import annotations

from typing import Any

from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp_types import CallToolRequestParams

from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.surface import Outcome

from ._mcp_results import ENVELOPE
from ._through import Called, Form, reported


class RecoveryMiddleware(Middleware):
    """Recovery for the tools of a server: ``server.add_middleware(RecoveryMiddleware(layer))``.

    What fails in the end is a result with ``isError``: a readable text, and the envelope in ``structuredContent``
    and ``_meta``. A server does not own the run, so none is stopped.

    Args:
        layer: Decides. Tools are known to it by their names.
    """

    def __init__(self, layer: RecoveryLayer) -> None:
        self._layer = layer

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Call the tool with recovery."""
        request = context.message

        async def call() -> ToolResult:
            try:
                return await call_next(context)
            except ToolError as error:
                # FastMCP has put its own words around what the tool raised.
                if error.__cause__ is not None and run.policy.mode == "act":
                    raise error.__cause__ from None
                raise

        run = self._layer.alone()
        called = Called(run=run, form=_FORM, tool=request.name, arguments=request.arguments or {}, call_id=None)
        return await called.athrough(call)


def _render(outcome: Outcome, _: str | None) -> ToolResult:
    if outcome.envelope is None:
        return ToolResult(content=outcome.text, is_error=outcome.is_error)
    envelope = outcome.envelope.model_dump(mode="json")
    return ToolResult(
        content=outcome.text, structured_content=envelope, meta={ENVELOPE: envelope}, is_error=outcome.is_error
    )


def _plain(result: ToolResult) -> Any:
    if result.is_error:
        return reported(result.content, result.structured_content)
    texts = [getattr(block, "text", None) for block in result.content]
    return "\n".join(text for text in texts if text is not None) if None not in texts else result


_FORM: Form[ToolResult] = Form(_render, _plain)
