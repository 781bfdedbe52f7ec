"""OpenAI's Chat Completions API, and all that speak it, in a loop of one's own.

The wire form has no flag for errors: the text says what went wrong. Nothing of the SDK is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

from ._asked import Asked, amake, field, make, once
from ._requests import recovering
from ._transcript import completed

__all__ = ["aanswer", "answer", "complete", "once", "recovering", "tool_message", "tools"]


def tools(run: Run) -> list[dict[str, Any]]:
    """Describe the run's tools, without those that it has given up: the request's ``tools``."""
    return [{"type": "function", "function": _function(spec)} for spec in run.tools()]


def answer(run: Run, message: Any) -> list[dict[str, Any]]:
    """Make the calls that the assistant's ``message`` asks for, and give the messages that answer all of them.

    Check ``run.stopped`` before the next request.
    """
    return [tool_message(outcome) for outcome in make(run, _asked(message))]


async def aanswer(run: Run, message: Any) -> list[dict[str, Any]]:
    """Do what `answer` does, all calls at the same time."""
    return [tool_message(outcome) for outcome in await amake(run, _asked(message))]


def tool_message(outcome: Outcome) -> dict[str, Any]:
    """Write an outcome as a message of the role ``tool``."""
    return {"role": "tool", "tool_call_id": outcome.call_id, "content": outcome.text}


def complete(run: Run, messages: Sequence[Any]) -> list[Any]:
    """Give the messages with an answer to every tool call.

    After a cancellation or a crash the last calls may be unanswered, and the API refuses such a transcript. Calls
    that were finished get their results; those that were not, say that they were cancelled.
    """

    def answered(message: Any) -> Any:
        return field(message, "tool_call_id") if field(message, "role") == "tool" else None

    def asked(message: Any) -> dict[str, str]:
        return {call.call_id: call.tool for call in _asked(message)}

    def answers(owed: Mapping[str, str]) -> list[dict[str, Any]]:
        return [tool_message(outcome) for outcome in run.answers(list(owed))]

    return completed(messages, asked=asked, answered=answered, answers=answers)


def _asked(message: Any) -> list[Asked]:
    return [_call(call) for call in field(message, "tool_calls") or ()]


def _call(call: Any) -> Asked:
    if field(call, "type") == "custom":  # free text instead of arguments
        custom = field(call, "custom")
        return Asked(field(call, "id"), field(custom, "name"), {"input": field(custom, "input")})
    function = field(call, "function")
    return Asked(field(call, "id"), field(function, "name"), field(function, "arguments"))


def _function(spec: dict[str, Any]) -> dict[str, Any]:
    return {"name": spec["name"], "description": spec["description"], "parameters": spec["input_schema"]}
