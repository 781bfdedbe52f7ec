"""pydantic-ai: a capability."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

from pydantic_ai import RunContext, SkipModelRequest, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.run import AgentRunResult

from otel_toolerrors.layer import RecoveryLayer, Run
from otel_toolerrors.surface import Outcome, ToolRunTerminated

from ._through import Called, Form


class Recovery(AbstractCapability[Any]):
    """Recovery for ``Agent(..., capabilities=[Recovery(layer)])``.

    Each run of the agent is a run of the layer. When it stops, all calls of the turn still get their results, no
    further model request is made, and the output is the fixed message; an agent whose output is not text raises
    `ToolRunTerminated` instead. ``ModelRetry``, ``ToolFailed``, approvals and deferrals pass untouched.

    Args:
        layer: Decides. Tools are known to it by their names.
        source: Who waits for the result, as for `RecoveryLayer.run`.
        on_run: Told of each run as it begins; keep it to ask for ``run.stopped`` later.
    """

    def __init__(
        self, layer: RecoveryLayer, *, source: str = "main_agent", on_run: Callable[[Run], None] | None = None
    ) -> None:
        self._layer = layer
        self._source = source
        self._on_run = on_run
        self._run: Run | None = None
        self._stopped: Outcome | None = None

    async def for_run(self, ctx: RunContext[Any]) -> Self:
        """Make the capability of one run of the agent."""
        agent = ctx.agent.name if ctx.agent is not None else None
        run = self._layer.run(agent=agent, source=self._source, conversation=ctx.conversation_id)
        if self._on_run is not None:
            self._on_run(run)
        own = copy.copy(self)
        own._run = run  # noqa: SLF001 - our own
        return own

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> AgentRunResult[Any]:
        """End the run, however it ends."""
        with self._started:
            result: AgentRunResult[Any] = await handler()
            return result

    async def prepare_tools(self, ctx: RunContext[Any], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
        """Offer the model no tool that the run has given up."""
        self._started.offer(tool.name for tool in tool_defs)
        return [tool for tool in tool_defs if tool.name not in self._started.degraded]

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Answer in the model's place once the run has stopped."""
        stop = self._started.stopped
        if stop is None:
            return request_context
        if not _takes_text(request_context.model_request_parameters) and self._stopped is not None:
            raise ToolRunTerminated(stop.message, self._stopped)
        raise SkipModelRequest(ModelResponse(parts=[TextPart(stop.message)]))

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], handler: Any
    ) -> Any:
        """Call the tool with recovery."""
        called: Called[Any] = Called(
            run=self._started, form=Form(self._render), tool=call.tool_name, arguments=args, call_id=call.tool_call_id
        )
        return await called.athrough(lambda: handler(args))

    @property
    def _started(self) -> Run:
        if self._run is None:
            raise RuntimeError("pydantic-ai did not ask for the capability of this run (for_run)")
        return self._run

    def _render(self, outcome: Outcome, _: str | None) -> Any:
        if outcome.stop is not None:
            self._stopped = outcome
        if outcome.is_error or outcome.kind == "cancelled":
            raise ToolFailed(outcome.text)
        return outcome.text if outcome.note else outcome.value


def _takes_text(parameters: ModelRequestParameters) -> bool:
    """Whether plain text can be the agent's output; elsewhere it would be read as JSON."""
    mode = parameters.output_mode
    return mode == "text" or (mode == "tool" and parameters.allow_text_output)
