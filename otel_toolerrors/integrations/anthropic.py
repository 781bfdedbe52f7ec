"""Anthropic's Messages API, in a loop of one's own.

Each function speaks the wire form: dictionaries to send, and the SDK's objects or dictionaries to read.
Nothing of the SDK is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

from ._asked import Asked, amake, field, make, once
from ._requests import recovering

__all__ = ["aanswer", "answer", "complete", "once", "recovering", "tool_result", "tools"]


def tools(run: Run) -> list[dict[str, Any]]:
    """Describe the run's tools, without those that it has given up: the request's ``tools``."""
    return run.tools()


def answer(run: Run, message: Any) -> dict[str, Any]:
    """Make the calls that the assistant's ``message`` asks for, and give the user message that answers all of them.

    Check ``run.stopped`` before the next request.
    """
    return _user(make(run, _asked(message)))


async def aanswer(run: Run, message: Any) -> dict[str, Any]:
    """Do what `answer` does, all calls at the same time."""
    return _user(await amake(run, _asked(message)))


def tool_result(outcome: Outcome) -> dict[str, Any]:
    """Write an outcome as a ``tool_result`` block. Its content is never empty, which the API would refuse."""
    block = {"type": "tool_result", "tool_use_id": outcome.call_id, "content": _content(outcome)}
    return {**block, "is_error": True} if outcome.is_error else block


def complete(run: Run, messages: Sequence[Any]) -> list[Any]:
    """Give the messages with an answer to every tool call.

    After a cancellation or a crash the last calls may be unanswered, and the API refuses such a transcript. Calls
    that were finished get their results; those that were not, say that they were cancelled.
    """
    whole: list[Any] = []
    for message in messages:
        whole += _missing(run, whole, message)
        whole.append(message)
    return whole + _missing(run, whole, None)


def _missing(run: Run, before: list[Any], message: Any) -> list[Any]:
    """The answers that ``message`` owes to the one before it, as a message of their own: the API merges turns."""
    asked = [call.call_id for call in _asked(before[-1])] if before else []
    given = {field(block, "tool_use_id") for block in _blocks(message)}
    owed = [call_id for call_id in asked if call_id not in given]
    return [_user(run.answers(owed))] if owed else []


def _asked(message: Any) -> list[Asked]:
    uses = [block for block in _blocks(message) if field(block, "type") == "tool_use"]
    return [Asked(field(use, "id"), field(use, "name"), field(use, "input")) for use in uses]


def _blocks(message: Any) -> Iterable[Any]:
    content = field(message, "content")
    return content if isinstance(content, list | tuple) else ()


def _user(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    return {"role": "user", "content": [tool_result(outcome) for outcome in outcomes]}


def _content(outcome: Outcome) -> Any:
    """A tool may return content blocks, such as images: those go as they are."""
    value = outcome.value
    blocks = isinstance(value, list) and value and all(isinstance(part, dict) and "type" in part for part in value)
    return value if outcome.ok and blocks and outcome.note is None else outcome.text
