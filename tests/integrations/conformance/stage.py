"""What a scenario sets up and what an adapter reports, in terms of no framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolerrors import Policy
from otel_toolerrors.testing import Bench, Script
from tests.integrations.wire import Turn


@dataclass
class Seen:
    """What became of a conversation."""

    results: dict[str, str] = field(default_factory=dict)
    """For every call id, the text that the model was, or would have been, shown."""
    flags: dict[str, bool] = field(default_factory=dict)
    """For every call id, whether the wire form says that it is an error; empty where it has no such flag."""
    requests: int = 0
    """Model requests made."""
    offered: list[list[str]] = field(default_factory=list)
    """Tool names in each request."""
    final: str | None = None
    """What the user is told at the end."""
    raised: BaseException | None = None
    """What came out of the conversation."""
    continued: bool | None = None
    """After an interruption: whether the model accepted the transcript with the next request."""


class Stage:
    """A bench with tools that play scripts, and the turns of a scripted model."""

    def __init__(self, turns: Sequence[Turn], policy: Policy | None = None) -> None:
        self.turns = turns
        self.bench = Bench(policy)
        self.scripts: dict[str, Script] = {}
        self.functions: dict[str, Callable[..., Any]] = {}
        self.asynchronous = False
        """Whether the adapter wants async tools."""
        self.blocked = asyncio.Event()
        """Set when a tool waits to be cancelled."""
        self.cancels = False
        """Whether the conversation is to be cancelled once a tool is blocked."""
        self.interrupt: Callable[[], Any] = _no_interrupt
        """Raises the adapter's own control-flow exception, or returns after a resume."""

    @property
    def layer(self) -> Any:
        """The layer."""
        return self.bench.layer

    def tool(self, name: str, *acts: Any, offered: bool = True, **declared: Any) -> None:
        """Give the agent a tool; an act may also be a function, which is then called."""
        script = self.scripts[name] = Script(*acts, clock=self.bench.clock)
        function = _asynchronous(script) if self.asynchronous else _synchronous(script)
        function.__name__ = name
        function.__qualname__ = name
        function.__doc__ = f"Ask for {name}."
        self.layer.tool(**declared)(function)
        if offered:
            self.functions[name] = function

    def stream(self, name: str, *acts: Any, **declared: Any) -> None:
        """Give the agent a tool that yields: a list is played item by item, and an exception in it breaks it off."""
        script = self.scripts[name] = Script(*acts)

        def play(q: str) -> Any:
            for item in script(q=q):
                if isinstance(item, Exception):
                    raise item
                yield item

        async def aplay(q: str) -> Any:
            for item in play(q):
                yield item

        function: Any = aplay if self.asynchronous else play
        function.__name__ = name
        function.__doc__ = f"Ask for {name}."
        function.__annotations__ = {"q": str}
        self.layer.tool(**declared)(function)
        self.functions[name] = function

    def calls(self, name: str) -> int:
        """How often the tool was called."""
        return len(self.scripts[name].calls)

    def wait(self) -> Any:
        """Block until cancelled (an act); a sync tool is interrupted instead."""
        if not self.asynchronous:
            raise KeyboardInterrupt

        async def forever() -> None:
            self.blocked.set()
            await asyncio.Event().wait()

        return forever()

    @staticmethod
    def go_on() -> None:
        """Say that the cancellation has been dealt with: pydantic-ai looks whether it has."""
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()

    def drive(self, conversation: Coroutine[Any, Any, None]) -> None:
        """Run an async conversation, and cancel it when the scenario says so."""

        async def main() -> None:
            task = asyncio.ensure_future(conversation)
            if self.cancels:
                blocked = asyncio.ensure_future(self.blocked.wait())
                await asyncio.wait([task, blocked], return_when=asyncio.FIRST_COMPLETED)
                blocked.cancel()
                task.cancel()
            await task

        asyncio.run(main())


def _synchronous(script: Script) -> Callable[..., Any]:
    def play(q: str) -> Any:
        value = script(q=q)
        return value() if callable(value) else value

    return play


def _asynchronous(script: Script) -> Callable[..., Any]:
    async def play(q: str) -> Any:
        value = script(q=q)
        if callable(value):
            value = value()
        return await value if asyncio.iscoroutine(value) else value

    return play


def _no_interrupt() -> Any:
    raise NotImplementedError("this adapter sets no interrupt")
