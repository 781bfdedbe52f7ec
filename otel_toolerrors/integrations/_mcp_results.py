"""How MCP writes a tool's result."""

from __future__ import annotations

from typing import Any, Final

from mcp_types import CallToolResult, TextContent

from otel_toolerrors.surface import Outcome

from ._through import Form, reported

ENVELOPE: Final = "toolerrors/envelope"
"""Key of the envelope in a result's ``_meta``."""


def _render(outcome: Outcome, _: str | None) -> CallToolResult:
    content: list[Any] = [TextContent(type="text", text=outcome.text)]
    if outcome.envelope is None:
        return CallToolResult(content=content, is_error=outcome.is_error)
    envelope = outcome.envelope.model_dump(mode="json")
    result = CallToolResult(content=content, structured_content=envelope, is_error=outcome.is_error)
    result.meta = {ENVELOPE: envelope}
    return result


def _plain(result: CallToolResult) -> Any:
    if result.is_error:
        return reported(result.content, result.structured_content)
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    return "\n".join(texts) if len(texts) == len(result.content) else result


FORM: Form[CallToolResult] = Form(_render, _plain)
