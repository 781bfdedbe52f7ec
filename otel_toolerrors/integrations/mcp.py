"""MCP: a client whose calls recover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import URL_ELICITATION_REQUIRED, CallToolResult, ToolAnnotations
from opentelemetry.propagate import inject

from otel_toolerrors.layer import Run
from otel_toolerrors.policy import Declaration, effects_from_hints

from ._mcp_results import ENVELOPE, FORM
from ._through import Called

__all__ = ["ENVELOPE", "RecoveringClient"]


class RecoveringClient:
    """An MCP client whose tool calls recover, for one run.

    `call_tool` always gives a result: also for JSON-RPC errors, timeouts and a closed connection, which raise in the
    client itself. A server that asks its user to visit a page first (URL elicitation) still raises.

    Args:
        run: Decides.
        client: An ``mcp.Client`` or ``mcp.ClientSession``.
        trusted: Whether the server's annotations are believed. If not, they only tighten what code and policy
            declare: a server that calls its tool read-only does not make it so.
    """

    def __init__(self, run: Run, client: Any, *, trusted: bool = False) -> None:
        self._run = run
        self._client = client
        self._trusted = trusted
        self._annotations: dict[str, ToolAnnotations] = {}

    async def list_tools(self, **options: Any) -> Any:
        """List the server's tools, without those that the run has given up; their annotations count from now on."""
        listed = await self._client.list_tools(**options)
        self._annotations |= {tool.name: tool.annotations for tool in listed.tools if tool.annotations is not None}
        self._run.offer(tool.name for tool in listed.tools)
        left = [tool for tool in listed.tools if tool.name not in self._run.degraded]
        return listed.model_copy(update={"tools": left})

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, call_id: str | None = None, **options: Any
    ) -> CallToolResult:
        """Call a tool. The trace's context travels in ``_meta``; ``options`` are the client's own."""
        known = self._run.layer.tools.get(name)
        declared = _declared(known.declared if known else None, self._annotations.get(name), trusted=self._trusted)

        async def request() -> CallToolResult:
            meta = dict(options.get("meta") or {})
            inject(meta)
            try:
                result = await self._client.call_tool(name, dict(arguments or {}), **{**options, "meta": meta or None})
            except MCPError as error:
                if error.code == URL_ELICITATION_REQUIRED:
                    raise UrlElicitationRequiredError.from_error(error.error) from error
                raise
            return cast("CallToolResult", result)

        called = Called(
            run=self._run, form=FORM, tool=name, arguments=arguments or {}, call_id=call_id, declared=declared
        )
        return await called.athrough(request)


def _declared(own: Declaration | None, hints: ToolAnnotations | None, *, trusted: bool) -> Declaration | None:
    """Take the annotations into account. The policy file has the last word, as always."""
    if hints is None or (own is not None and trusted):
        return own
    declared = own or Declaration()
    said = hints.model_dump(by_alias=True)
    return replace(declared, effects=effects_from_hints(declared.effects, said, trusted=trusted))
