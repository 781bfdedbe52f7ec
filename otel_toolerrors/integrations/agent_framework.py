"""Microsoft Agent Framework: middleware for one run of an agent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

from agent_framework import (
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    FunctionTool,
    Message,
    ResponseStream,
)

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

from ._through import Called, Form

__all__ = ["middleware"]

_BAD_ARGUMENTS: Final = "_FunctionArgumentValidationError"


def middleware(run: Run) -> list[FunctionMiddleware | ChatMiddleware]:
    """Give the middleware for one run of an agent: ``agent.run("…", middleware=middleware(run))``.

    When the run stops, all calls of the turn get their results, no further model request is made, and the answer is
    the fixed message. Approvals, ``UserInputRequiredException``, ``MiddlewareTermination`` and ``MiddlewareFailure``
    pass untouched.
    """
    return [_Calls(run), _Requests(run)]


class _Calls(FunctionMiddleware):
    """Calls the tools with recovery."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        async def call() -> Any:
            try:
                await call_next()
            except TypeError as error:
                # The framework has checked the arguments; from a tool itself a TypeError is a bug.
                if type(error).__name__ == _BAD_ARGUMENTS and not self._run.observes:
                    raise ValueError(str(error)) from error
                raise
            return context.result

        called = Called(
            run=self._run,
            form=_FORM,
            tool=context.function.name,
            arguments=context.arguments if isinstance(context.arguments, Mapping) else dict(context.arguments),
            call_id=context.metadata.get("call_id"),
        )
        context.result = await called.athrough(call)


class _Requests(ChatMiddleware):
    """Answers in the model's place once the run has stopped, and offers no tool that it has given up."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        stop, options = self._run.stopped, context.options or {}
        if stop is not None:
            context.result = _streamed(stop.message) if context.stream else _response(stop.message)
            return
        tools = list(options.get("tools") or ())
        self._run.offer(tool.name for tool in tools if isinstance(tool, FunctionTool))
        if self._run.degraded:
            left = [tool for tool in tools if getattr(tool, "name", None) not in self._run.degraded]
            context.options = {**options, "tools": left}
        await call_next()


def _response(text: str) -> ChatResponse[Any]:
    return ChatResponse(messages=[Message(role="assistant", contents=[text])])


def _streamed(text: str) -> ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
    async def updates() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(text)])

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def _render(outcome: Outcome, _: str | None) -> Any:
    return outcome.text


def _plain(result: Any) -> Any:
    """The framework has turned what the tool returned into content by now."""
    parts = result if isinstance(result, list) else []
    texts = [part.text for part in parts if isinstance(part, Content) and part.text is not None]
    return "\n".join(texts) if parts and len(texts) == len(parts) else result


_FORM: Form[Any] = Form(_render, _plain)
