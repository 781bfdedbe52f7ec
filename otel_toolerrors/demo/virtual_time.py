"""Time that is simulated and HTTP that is not, on one event loop.

The loop's clock stands still while anything happens and jumps to the next timer
when nothing does. Sleeps, timeouts and the layer's waits cost no real time, and
the same program takes the same course every time. The sockets are real: while a
request or an answer is on the wire, the loop waits for the kernel and does not jump.
"""

from __future__ import annotations

import asyncio
import selectors
from bisect import bisect_right
from collections.abc import Callable, Coroutine
from time import time_ns
from typing import Any, TypeVar

T = TypeVar("T")

_STUCK = 10.0
"""Real seconds that a byte may take on loopback before something is broken."""


class Wire:
    """Which requests are between client and server. Both ends live in this process, so both can say."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._travelling: set[str] = set()

    @property
    def busy(self) -> bool:
        """Whether bytes are on their way."""
        return bool(self._travelling)

    def depart(self, request: str) -> None:
        """Note that the client sends."""
        self._open.add(request)
        self._travelling.add(request)

    def arrive(self, request: str) -> None:
        """Note that the server has the request, and thinks."""
        self._travelling.discard(request)

    def answer(self, request: str) -> None:
        """Note that the server answers, if anybody still listens."""
        if request in self._open:
            self._travelling.add(request)

    def land(self, request: str) -> None:
        """Note that the client has its answer, or has given up."""
        self._open.discard(request)
        self._travelling.discard(request)


class Timeline:
    """The simulated clock, and when in real time it jumped."""

    def __init__(self, epoch_ns: int) -> None:
        self.now = 0.0
        """Simulated seconds since the start."""
        self._epoch_ns = epoch_ns
        self._real_ns: list[int] = []
        self._simulated: list[float] = []

    def jump(self, seconds: float) -> None:
        """Let time pass."""
        self._real_ns.append(time_ns())
        self.now += seconds
        self._simulated.append(self.now)

    def now_ns(self) -> int:
        """The simulated moment, as nanoseconds since 1970."""
        return self._epoch_ns + round(self.now * 1e9)

    def at_ns(self, real_ns: int) -> int:
        """The simulated moment of a real one."""
        place = bisect_right(self._real_ns, real_ns)
        return self._epoch_ns + (round(self._simulated[place - 1] * 1e9) if place else 0)


class _PatientSelector(selectors.DefaultSelector):
    """Waits for sockets only while bytes travel; otherwise it lets simulated time pass."""

    def __init__(self, timeline: Timeline, wire: Wire) -> None:
        super().__init__()
        self._timeline = timeline
        self._wire = wire

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self._wire.busy or timeout is None:
            ready = super().select(_STUCK)
            if not ready:
                raise TimeoutError(f"nothing happened on loopback for {_STUCK:g} s: is a firewall in the way?")
            return ready
        self._timeline.jump(timeout)
        return []


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, timeline: Timeline, wire: Wire) -> None:
        super().__init__(_PatientSelector(timeline, wire))
        self._timeline = timeline

    def time(self) -> float:
        return self._timeline.now


def run(work: Callable[[Timeline, Wire], Coroutine[Any, Any, T]], *, epoch_ns: int) -> T:
    """Run ``work`` in simulated time, which begins at ``epoch_ns``."""
    timeline, wire = Timeline(epoch_ns), Wire()
    with asyncio.Runner(loop_factory=lambda: _VirtualLoop(timeline, wire)) as runner:
        return runner.run(work(timeline, wire))
