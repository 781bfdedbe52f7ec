"""LangGraph's ``ToolNode``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

from ._through import Called, Form, refused, reported
from ._transcript import completed

__all__ = ["complete", "tool_wrappers"]

Result = ToolMessage | Command[Any]


def tool_wrappers(run: Run) -> dict[str, Any]:
    """Give the arguments that put ``run`` around the calls of a tool node: ``ToolNode(tools, **tool_wrappers(run))``.

    The graph's own edges must lead to its end when ``run.stopped``.
    """

    def wrap(request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        return called(run, request).through(lambda: handler(request))

    async def awrap(request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]) -> Result:
        return await called(run, request).athrough(lambda: handler(request))

    return {"wrap_tool_call": wrap, "awrap_tool_call": awrap}


def complete(run: Run, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Give the messages with an answer to every tool call.

    After a cancellation or a crash the last calls may be unanswered, and models refuse such a transcript. Calls that
    were finished get their results; those that were not, say that they were cancelled.
    """

    def answered(message: AnyMessage) -> str | None:
        return message.tool_call_id if isinstance(message, ToolMessage) else None

    def asked(message: AnyMessage) -> dict[str, str]:
        calls = message.tool_calls if isinstance(message, AIMessage) else ()
        return {call["id"] or "": call["name"] for call in calls}

    def answers(owed: Mapping[str, str]) -> Iterator[AnyMessage]:
        for (call_id, tool), outcome in zip(owed.items(), run.answers(list(owed)), strict=True):
            yield _message(outcome, call_id, tool)

    return completed(messages, asked=asked, answered=answered, answers=answers)


def called(run: Run, request: ToolCallRequest) -> Called[Result]:
    """Take a tool node's request for what it is: a call in a run."""
    call = request.tool_call
    return Called(run=run, form=_FORM, tool=call["name"], arguments=call["args"], call_id=call["id"])


def _message(outcome: Outcome, call_id: str | None, tool: str) -> ToolMessage:
    """Write an outcome as the message that answers a call."""
    status = "error" if outcome.is_error else "success"
    return ToolMessage(outcome.text, tool_call_id=call_id, name=tool, status=status)


def _plain(result: Result) -> Any:
    if not isinstance(result, ToolMessage):
        return result
    if result.status != "error":
        return result.content
    # The tool node has turned bad arguments into a message by now.
    bad_arguments = str(result.content).startswith("Error invoking tool")
    return refused(result.content) if bad_arguments else reported(result.content)


_FORM: Form[Result] = Form(lambda outcome, call_id: _message(outcome, call_id, outcome.tool), _plain)
