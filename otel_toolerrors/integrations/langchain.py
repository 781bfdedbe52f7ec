"""LangChain agents: a middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt.tool_node import ToolCallRequest

from otel_toolerrors.layer import RecoveryLayer, Run

from ._open_runs import OpenRuns
from .langgraph import Result, called, complete

__all__ = ["RecoveryMiddleware"]

_RUN = "toolerrors_run"


class _State(AgentState[Any]):
    toolerrors_run: NotRequired[Annotated[str, PrivateStateAttr]]


class RecoveryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Recovery for ``create_agent(..., middleware=[RecoveryMiddleware(layer)])``.

    Each invocation of the agent is a run of its own, also when invocations share this object; one that was
    interrupted goes on with its run. When the run stops, the agent ends with the fixed message and without another
    model request. Tool calls that an earlier, broken-off invocation left unanswered are answered first, so that the
    model accepts the transcript.

    Args:
        layer: Decides. Tools are known to it by their names.
        agent: The agent's name, for traces.
        source: Who waits for the result, as for `RecoveryLayer.run`.
    """

    state_schema = _State

    def __init__(self, layer: RecoveryLayer, *, agent: str | None = None, source: str = "main_agent") -> None:
        super().__init__()
        self._layer = layer
        self._agent = agent
        self._source = source
        self._runs = OpenRuns()

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Begin a run, and answer what was left unanswered."""
        run, earlier = self._begin(), self._runs.end(state.get(_RUN))
        whole = complete(earlier or run, state["messages"])
        if len(whole) == len(state["messages"]):
            return {_RUN: run.id}
        return {_RUN: run.id, "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *whole]}

    def after_agent(self, state: Any, runtime: Any) -> None:
        """End the run."""
        self._runs.end(state.get(_RUN))

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """End a run that has stopped, without a model request."""
        stop = self._run(state).stopped
        return {"jump_to": "end", "messages": [AIMessage(stop.message)]} if stop else None

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Offer the model no tool that the run has given up."""
        return handler(self._without_degraded(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do what `wrap_model_call` does."""
        return await handler(self._without_degraded(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Call the tool with recovery."""
        return called(self._run(request.state), request).through(lambda: handler(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Call the tool with recovery."""
        return await called(self._run(request.state), request).athrough(lambda: handler(request))

    def _begin(self, run_id: str | None = None) -> Run:
        conversation = get_config().get("configurable", {}).get("thread_id")
        run = self._layer.run(agent=self._agent, source=self._source, conversation=conversation, run_id=run_id)
        self._runs.add(run)
        return run

    def _run(self, state: Any) -> Run:
        """The invocation's run; one resumed in another process goes on with a new one of the same name."""
        return self._runs.get(state[_RUN]) or self._begin(state[_RUN])

    def _without_degraded(self, request: Any) -> Any:
        run = self._run(request.state)
        run.offer(_name(tool) for tool in request.tools)
        if not run.degraded:
            return request
        return request.override(tools=[tool for tool in request.tools if _name(tool) not in run.degraded])


def _name(tool: Any) -> str:
    return str(tool.get("name") if isinstance(tool, dict) else tool.name)
