"""The OpenAI Agents SDK."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Mapping
from typing import Any

from agents import Agent, FunctionTool, FunctionToolResult, RunContextWrapper, ToolsToFinalOutputResult
from agents.tool_context import ToolContext

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

from ._through import Called, Form


def recovering(agent: Agent[Any], run: Run) -> Agent[Any]:
    """Give a copy of the agent whose function tools recover; for one run of it: ``Runner.run(recovering(a, run), …)``.

    Agents that it hands over to are copied likewise; ``Handoff`` objects are left as they are. When the run stops,
    all calls of the turn get their results, no further model request is made, and the fixed message is the output.
    """
    return _copied(agent, run, {})


def guarded(tool: FunctionTool, run: Run) -> FunctionTool:
    """Give a copy of the tool that recovers. Its ``failure_error_function`` is not used: errors come to us whole."""
    bare = copy.copy(tool)
    # Private, but fields of the dataclass; without them the SDK turns every error into one sentence before we see it.
    bare._failure_error_function, bare._use_default_failure_error_function = None, False  # noqa: SLF001
    bare = copy.copy(bare)
    whole = copy.copy(bare)

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        called: Called[Any] = Called(
            run=run, form=_FORM, tool=tool.name, arguments=_decoded(arguments), call_id=context.tool_call_id
        )
        return await called.athrough(lambda: bare.on_invoke_tool(context, arguments))

    async def is_enabled(context: RunContextWrapper[Any], agent: Any) -> bool:
        if tool.name in run.degraded:
            return False
        enabled = tool.is_enabled
        verdict = enabled(context, agent) if callable(enabled) else enabled
        return bool(await verdict if inspect.isawaitable(verdict) else verdict)

    whole.on_invoke_tool = invoke
    whole.is_enabled = is_enabled
    return whole


def _copied(agent: Agent[Any], run: Run, made: dict[int, Agent[Any]]) -> Agent[Any]:
    if id(agent) not in made:
        own = made[id(agent)] = agent.clone()
        run.offer(tool.name for tool in agent.tools)
        own.tools = [guarded(tool, run) if isinstance(tool, FunctionTool) else tool for tool in agent.tools]
        own.handoffs = [_copied(to, run, made) if isinstance(to, Agent) else to for to in agent.handoffs]
        own.tool_use_behavior = _ending(agent.tool_use_behavior, run)
    return made[id(agent)]


def _ending(behavior: Any, run: Run) -> Any:
    """Let a stopped run end; else do what the agent does."""

    async def decide(context: RunContextWrapper[Any], results: list[FunctionToolResult]) -> ToolsToFinalOutputResult:
        if run.stopped is not None:
            return ToolsToFinalOutputResult(is_final_output=True, final_output=run.stopped.message)
        if callable(behavior):
            verdict: Any = behavior(context, results)
            return await verdict if inspect.isawaitable(verdict) else verdict  # type: ignore[no-any-return]
        names = behavior.get("stop_at_tool_names", []) if isinstance(behavior, dict) else None
        for result in results:
            if behavior == "stop_on_first_tool" or (names is not None and result.tool.name in names):
                return ToolsToFinalOutputResult(is_final_output=True, final_output=result.output)
        return ToolsToFinalOutputResult(is_final_output=False)

    return decide


def _decoded(arguments: str) -> Mapping[str, Any]:
    """For the trace's digest and for fallbacks; the tool itself gets the text."""
    try:
        decoded = json.loads(arguments)
    except ValueError:
        return {"arguments": arguments}
    return decoded if isinstance(decoded, dict) else {"arguments": decoded}


def _render(outcome: Outcome, _: str | None) -> Any:
    return outcome.text if outcome.message is not None or outcome.note else outcome.value


_FORM: Form[Any] = Form(_render)
