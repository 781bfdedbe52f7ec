"""Google's Agent Development Kit (ADK): a plugin."""

from __future__ import annotations

import copy
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from otel_toolerrors.layer import RecoveryLayer, Run
from otel_toolerrors.surface import Outcome

from ._open_runs import OpenRuns
from ._through import Called, Form, refused

__all__ = ["RecoveryPlugin"]


class RecoveryPlugin(BasePlugin):
    """Recovery for ``Runner(..., plugins=[RecoveryPlugin(layer)])``.

    Each invocation is a run. When it stops, all calls of the turn get their results, and the next model request is
    answered with the fixed message. Callbacks, confirmations and interrupts of ADK go on as without it.

    Args:
        layer: Decides. Tools are known to it by their names.
        source: Who waits for the result, as for `RecoveryLayer.run`.
    """

    def __init__(self, layer: RecoveryLayer, *, source: str = "main_agent") -> None:
        super().__init__(name="toolerrors")
        self._layer = layer
        self._source = source
        self._runs = OpenRuns()

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Begin a run."""
        agent = invocation_context.agent.name if invocation_context.agent is not None else None
        self._begin(invocation_context.invocation_id, agent, invocation_context.session.id)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """End the run."""
        self._runs.end(invocation_context.invocation_id)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """End the run of an invocation that crashed."""
        self._runs.end(invocation_context.invocation_id)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Answer in the model's place once the run has stopped; else offer it tools that recover."""
        context = callback_context
        run = self._runs.get(context.invocation_id) or self._begin(
            context.invocation_id, context.agent_name, context.session.id
        )
        stop = run.stopped
        if stop is not None:
            return LlmResponse(content=types.ModelContent(stop.message))
        run.offer(llm_request.tools_dict)
        _withdraw(llm_request, run.degraded)
        # The flow looks the model's calls up here, and does all else that belongs to a call itself.
        llm_request.tools_dict = {name: _guarded(tool, run) for name, tool in llm_request.tools_dict.items()}
        return None

    def _begin(self, invocation: str, agent: str | None, session: str) -> Run:
        run = self._layer.run(agent=agent, source=self._source, conversation=session, run_id=invocation)
        self._runs.add(run)
        return run


def _guarded(tool: BaseTool, run: Run) -> Any:
    """Give a copy of the tool that recovers."""
    guarded = copy.copy(tool)

    async def run_async(*, args: dict[str, Any], tool_context: ToolContext) -> Any:
        called: Called[Any] = Called(
            run=run, form=_FORM, tool=tool.name, arguments=args, call_id=tool_context.function_call_id
        )
        return await called.athrough(lambda: tool.run_async(args=args, tool_context=tool_context))

    guarded.run_async = run_async  # type: ignore[method-assign]
    return guarded


def _withdraw(request: LlmRequest, names: frozenset[str]) -> None:
    """Take tools off the list that the model is shown; a call of one that it remembers is still answered."""
    for tool in request.config.tools or () if names else ():
        if isinstance(tool, types.Tool) and tool.function_declarations:
            tool.function_declarations = [one for one in tool.function_declarations if one.name not in names]


def _render(outcome: Outcome, _: str | None) -> Any:
    if outcome.is_error:
        return {"error": outcome.text}
    return outcome.value if outcome.message is None and not outcome.note else outcome.text


def _plain(result: Any) -> Any:
    """ADK has turned bad arguments into a result by now."""
    text = result.get("error") if isinstance(result, dict) else None
    if not (isinstance(text, str) and text.startswith("Invoking `") and "()` failed" in text):
        return result
    return refused(text)


_FORM: Form[Any] = Form(_render, _plain)
