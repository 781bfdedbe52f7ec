"""LangChain agents and LangGraph's ``ToolNode``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from threading import Lock
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage, ToolMessage
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from otel_toolerrors.layer import RecoveryLayer, Run
from otel_toolerrors.surface import Outcome

from ._through import Called, Form, reported

Result = ToolMessage | Command[Any]
INVALID_PARAMS = -32602
_RUN = "toolerrors_run"
_MOST_RUNS = 1_024


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
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = Lock()

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Begin a run, and answer what was left unanswered."""
        run, earlier = self._begin(), self._end(state)
        whole = _complete(state["messages"], earlier or run)
        if len(whole) == len(state["messages"]):
            return {_RUN: run.id}
        return {_RUN: run.id, "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *whole]}

    def after_agent(self, state: Any, runtime: Any) -> None:
        """End the run."""
        self._end(state)

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
        return _called(self._run(request.state), request).through(lambda: handler(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Call the tool with recovery."""
        return await _called(self._run(request.state), request).athrough(lambda: handler(request))

    def _begin(self, run_id: str | None = None) -> Run:
        conversation = get_config().get("configurable", {}).get("thread_id")
        run = self._layer.run(agent=self._agent, source=self._source, conversation=conversation, run_id=run_id)
        with self._lock:
            self._runs[run.id] = run
            # An invocation that crashed or was never resumed leaves its run behind.
            lost = self._runs.popitem(last=False)[1] if len(self._runs) > _MOST_RUNS else None
        if lost is not None:
            lost.close()
        return run

    def _end(self, state: Any) -> Run | None:
        with self._lock:
            run = self._runs.pop(state.get(_RUN, ""), None)
        if run is not None:
            run.close()
        return run

    def _run(self, state: Any) -> Run:
        """The invocation's run; one resumed in another process goes on with a new one of the same name."""
        return self._runs.get(state[_RUN]) or self._begin(state[_RUN])

    def _without_degraded(self, request: Any) -> Any:
        degraded = self._run(request.state).degraded
        if not degraded:
            return request
        return request.override(tools=[tool for tool in request.tools if _name(tool) not in degraded])


def tool_wrappers(run: Run) -> dict[str, Any]:
    """Give the arguments that put ``run`` around the calls of a tool node: ``ToolNode(tools, **tool_wrappers(run))``.

    The graph's own edges must lead to its end when ``run.stopped``.
    """

    def wrap(request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        return _called(run, request).through(lambda: handler(request))

    async def awrap(request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]) -> Result:
        return await _called(run, request).athrough(lambda: handler(request))

    return {"wrap_tool_call": wrap, "awrap_tool_call": awrap}


def _called(run: Run, request: ToolCallRequest) -> Called[Result]:
    call = request.tool_call
    return Called(run=run, form=_FORM, tool=call["name"], arguments=call["args"], call_id=call["id"])


def _render(outcome: Outcome, call_id: str | None) -> Result:
    status = "error" if outcome.is_error else "success"
    return ToolMessage(outcome.text, tool_call_id=call_id, name=outcome.tool, status=status)


def _plain(result: Result) -> Any:
    if not isinstance(result, ToolMessage):
        return result
    if result.status != "error":
        return result.content
    # The tool node has turned bad arguments into a message by now; said as JSON-RPC says it, nothing is lost.
    bad_arguments = str(result.content).startswith("Error invoking tool")
    structured = {"error": {"code": INVALID_PARAMS, "message": result.content}} if bad_arguments else None
    return reported(result.content, structured)


_FORM: Form[Result] = Form(_render, _plain)


def _complete(messages: Sequence[AnyMessage], run: Run) -> list[AnyMessage]:
    whole: list[AnyMessage] = []
    owed: list[Any] = []
    for message in [*messages, None]:
        if isinstance(message, ToolMessage):
            owed = [call for call in owed if call["id"] != message.tool_call_id]
        else:
            whole += _answers(owed, run)
            owed = list(message.tool_calls) if isinstance(message, AIMessage) else []
        if message is not None:
            whole.append(message)
    return whole


def _answers(calls: Sequence[Any], run: Run) -> Iterator[AnyMessage]:
    for call, outcome in zip(calls, run.answers([call["id"] for call in calls]), strict=True):
        status = "error" if outcome.is_error else "success"
        yield ToolMessage(outcome.text, tool_call_id=call["id"], name=call["name"], status=status)


def _name(tool: Any) -> Any:
    return tool.get("name") if isinstance(tool, dict) else tool.name
