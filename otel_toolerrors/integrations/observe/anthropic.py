"""Observe Anthropic's SDK: the tools of its runner, and the tool results in a transcript of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

from anthropic.lib.tools import BetaAsyncFunctionTool, BetaFunctionTool
from anthropic.resources.messages import AsyncMessages, Messages

from otel_toolerrors.integrations._asked import field
from otel_toolerrors.integrations._through import reported
from otel_toolerrors.telemetry import Tracing

from ._observation import Observation, Result


def observe(tracing: Tracing) -> Callable[[], None]:
    """Watch the runner's tools; in a loop of one's own, read the results that it sends to the model.

    There the tool itself is out of sight: a call is seen when its result is sent, and takes no time.
    """
    observation = Observation(tracing)

    def tool(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def call(self: Any, given: Any) -> Any:
            with observation.watch(self.name, given if isinstance(given, dict) else {"input": given}):
                return original(self, given)

        return call

    def atool(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def call(self: Any, given: Any) -> Any:
            with observation.watch(self.name, given if isinstance(given, dict) else {"input": given}):
                return await original(self, given)

        return call

    def request(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def create(self: Any, *args: Any, **kwargs: Any) -> Any:
            observation.results(_results(kwargs.get("messages")))
            return original(self, *args, **kwargs)

        return create

    observation.hook(BetaFunctionTool, "call", tool)
    observation.hook(BetaAsyncFunctionTool, "call", atool)
    observation.hook(Messages, "create", request)
    observation.hook(AsyncMessages, "create", request)  # gives an awaitable, which is passed on
    return observation.end


def _results(messages: Any) -> Iterator[Result]:
    """The results in the last message, with the names of the tools that were asked for just before."""
    if not isinstance(messages, Sequence) or len(messages) < 2:  # noqa: PLR2004 - the question and the answer
        return
    asked, answered = (field(message, "content") for message in messages[-2:])
    if not isinstance(asked, Sequence) or not isinstance(answered, Sequence):
        return
    names = {field(block, "id"): field(block, "name") for block in asked if field(block, "type") == "tool_use"}
    for block in answered:
        call_id = field(block, "tool_use_id")
        if field(block, "type") == "tool_result" and call_id in names:
            failed = field(block, "is_error") is True
            yield Result(call_id, names[call_id], reported(field(block, "content")) if failed else None)
