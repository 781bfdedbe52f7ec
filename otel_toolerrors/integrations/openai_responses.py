"""OpenAI's Responses API, in a loop of one's own.

The wire form has no flag for errors: the text says what went wrong. Nothing of the SDK is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

from ._asked import Asked, amake, field, make, once
from ._requests import recovering

__all__ = ["aanswer", "answer", "complete", "once", "output_item", "recovering", "tools"]

_CUSTOM = "custom_tool_call"
_CALLS = ("function_call", _CUSTOM)


def tools(run: Run) -> list[dict[str, Any]]:
    """Describe the run's tools, without those that it has given up: the request's ``tools``."""
    return [_function(spec) for spec in run.tools()]


def answer(run: Run, output: Sequence[Any]) -> list[dict[str, Any]]:
    """Make the calls among a response's ``output`` items, and give the items that answer all of them.

    Check ``run.stopped`` before the next request.
    """
    return _items(output, make(run, map(_asked, _calls(output))))


async def aanswer(run: Run, output: Sequence[Any]) -> list[dict[str, Any]]:
    """Do what `answer` does, all calls at the same time."""
    return _items(output, await amake(run, map(_asked, _calls(output))))


def output_item(outcome: Outcome, *, custom: bool = False) -> dict[str, Any]:
    """Write an outcome as a ``function_call_output`` item, or as a custom tool's."""
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": outcome.call_id, "output": outcome.text}


def complete(run: Run, items: Sequence[Any]) -> list[Any]:
    """Give the input items with an answer to every call.

    After a cancellation or a crash the last calls may be unanswered, and the API refuses such an input. Calls that
    were finished get their results; those that were not, say that they were cancelled.
    """
    given = {field(item, "call_id") for item in items if str(field(item, "type")).endswith("_call_output")}
    whole: list[Any] = []
    owed: list[Any] = []
    for item in items:
        if owed and field(item, "role") == "user":  # the model's turn was over
            whole += _answers(run, owed)
            owed = []
        whole.append(item)
        owed += [call for call in _calls([item]) if field(call, "call_id") not in given]
    return whole + _answers(run, owed)


def _answers(run: Run, calls: Sequence[Any]) -> list[dict[str, Any]]:
    return _items(calls, run.answers([field(call, "call_id") for call in calls]))


def _calls(output: Sequence[Any]) -> list[Any]:
    return [item for item in output if field(item, "type") in _CALLS]


def _asked(call: Any) -> Asked:
    custom = field(call, "type") == _CUSTOM  # free text instead of arguments
    arguments = {"input": field(call, "input")} if custom else field(call, "arguments")
    return Asked(field(call, "call_id"), field(call, "name"), arguments)


def _items(output: Sequence[Any], outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    pairs = zip(_calls(output), outcomes, strict=True)
    return [output_item(outcome, custom=field(call, "type") == _CUSTOM) for call, outcome in pairs]


def _function(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "name": spec["name"],
        "description": spec["description"],
        "parameters": spec["input_schema"],
        "strict": False,
    }
