"""Observe the tool results that a loop of one's own sends to OpenAI's models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

from openai.resources.chat.completions import AsyncCompletions, Completions
from openai.resources.responses import AsyncResponses, Responses

from otel_toolerrors.integrations._asked import field
from otel_toolerrors.telemetry import Tracing

from ._observation import Observation, Result


def observe(tracing: Tracing) -> Callable[[], None]:
    """Read the results that are sent to the model. A call is seen when its result is sent, and takes no time.

    The wire form has no flag for errors, so a result counts as one if it has a form that protocols use for errors:
    ``Error: …``, or JSON such as ``{"error": …}``.
    """
    observation = Observation(tracing)

    def request(name: str, read: Callable[[Any], Iterator[Result]]) -> Callable[[Any], Any]:
        def around(original: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(original)
            def create(self: Any, *args: Any, **kwargs: Any) -> Any:
                observation.results(read(kwargs.get(name)))
                return original(self, *args, **kwargs)

            return create

        return around

    hooks: tuple[tuple[type, str, Callable[[Any], Iterator[Result]]], ...] = (
        (Completions, "messages", _chat),
        (AsyncCompletions, "messages", _chat),
        (Responses, "input", _responses),
        (AsyncResponses, "input", _responses),
    )
    for kind, name, read in hooks:
        observation.hook(kind, "create", request(name, read))
    return observation.end


def _chat(messages: Any) -> Iterator[Result]:
    names: dict[Any, str] = {}
    for message in messages if isinstance(messages, Sequence) and not isinstance(messages, str) else ():
        for call in field(message, "tool_calls") or ():
            names[field(call, "id")] = str(field(field(call, "function"), "name"))
        call_id = field(message, "tool_call_id")
        if field(message, "role") == "tool" and call_id in names:
            yield Result(call_id, names[call_id], field(message, "content"))


def _responses(items: Any) -> Iterator[Result]:
    names: dict[Any, str] = {}
    for item in items if isinstance(items, Sequence) and not isinstance(items, str) else ():
        call_id = field(item, "call_id")
        if field(item, "type") == "function_call":
            names[call_id] = str(field(item, "name"))
        elif field(item, "type") == "function_call_output" and call_id in names:
            yield Result(call_id, names[call_id], field(item, "output"))
