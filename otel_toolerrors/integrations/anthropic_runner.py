"""The tool runner of Anthropic's SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError
from pydantic import ValidationError

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

from ._through import Called, Form


def guarded(run: Run, tools: Iterable[Any]) -> list[Any]:
    """Give tools that recover: the ``tools`` of ``client.beta.messages.tool_runner()``."""
    return [_AsyncGuarded(run, tool) if _is_async(tool) else _Guarded(run, tool) for tool in tools]


def until_stopped(run: Run, runner: Any) -> Iterator[Any]:
    """Give the runner's messages until it is done or the run stops.

    A stopped run ends when all calls of its turn have their results, and before the next request;
    ``runner.generate_tool_call_response()`` gives those results once more.
    """
    for message in runner:
        yield message
        runner.generate_tool_call_response()
        if run.stopped is not None:
            return


async def auntil_stopped(run: Run, runner: Any) -> AsyncIterator[Any]:
    """Do what `until_stopped` does, with an async runner."""
    async for message in runner:
        yield message
        await runner.generate_tool_call_response()
        if run.stopped is not None:
            return


class _Guarded(BetaBuiltinFunctionTool):
    """A tool that recovers."""

    def __init__(self, run: Run, tool: Any) -> None:
        self._run = run
        self._tool = tool

    def to_dict(self) -> Any:
        """Describe the tool, as it describes itself."""
        return self._tool.to_dict()

    def call(self, input: object) -> Any:  # noqa: A002 - the SDK's name
        """Call the tool with recovery."""

        def once() -> Any:
            try:
                return self._tool.call(input)
            except ValueError as error:
                raise _whole(error) from None

        return _called(self._run, self._tool, input).through(once)


class _AsyncGuarded(BetaAsyncBuiltinFunctionTool):
    """An async tool that recovers."""

    def __init__(self, run: Run, tool: Any) -> None:
        self._run = run
        self._tool = tool

    def to_dict(self) -> Any:
        """Describe the tool, as it describes itself."""
        return self._tool.to_dict()

    async def call(self, input: object) -> Any:  # noqa: A002 - the SDK's name
        """Call the tool with recovery."""

        async def once() -> Any:
            try:
                return await self._tool.call(input)
            except ValueError as error:
                raise _whole(error) from None

        return await _called(self._run, self._tool, input).athrough(once)


def _called(run: Run, tool: Any, given: object) -> Called[Any]:
    """The SDK does not tell a tool the id of its call."""
    arguments = given if isinstance(given, dict) else {"input": given}
    return Called(run=run, form=_FORM, tool=tool.name, arguments=arguments, call_id=None)


def _whole(error: ValueError) -> Exception:
    """The SDK hides which argument is wrong; the cause says it."""
    return error.__cause__ if isinstance(error.__cause__, ValidationError) else error


def _is_async(tool: Any) -> bool:
    kinds = {kind.__name__ for kind in type(tool).__mro__}
    return bool(kinds & {"BetaAsyncFunctionTool", "BetaAsyncBuiltinFunctionTool"})


def _render(outcome: Outcome, _: str | None) -> Any:
    if not outcome.is_error:
        return outcome.text
    raise ToolError(outcome.text)


_FORM: Form[Any] = Form(_render)
