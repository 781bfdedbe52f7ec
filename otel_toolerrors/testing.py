"""For tests of tools and policies: no sleeping, no chance, everything that was decided in a list.

from otel_toolerrors import testing

def test_search_survives_a_reset():
    bench = testing.Bench(policy)
    bench.tool("search", ConnectionResetError(), ["hit"], effects="read")
    with bench.layer.run() as run:
        assert run.call("search", {}).ok
    assert bench.clock.slept == [0.5]
"""

from __future__ import annotations

import asyncio
import heapq
import inspect
from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

from otel_toolerrors.engine import Rejection, ServiceBreaker
from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.policy import BreakerPolicy, Policy
from otel_toolerrors.vocabulary import Effects, Event

__all__ = ["Bench", "Chaos", "Script", "VirtualClock", "failures_to_open", "steady"]

E = TypeVar("E")

_TURNS = 10
"""Turns of the event loop that other tasks get before time moves on."""


class VirtualClock:
    """Time that passes only when somebody sleeps, or when it is told to."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now
        self.slept: list[float] = []
        """Every wait so far, in seconds."""
        self._wakes: list[float] = []

    def __call__(self) -> float:
        """Read the clock."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Wait without waiting."""
        self.slept.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        """Wait without waiting: time moves to the earliest sleeper's end once the other tasks have had their turns."""
        self.slept.append(seconds)
        wakes = self.now + seconds
        heapq.heappush(self._wakes, wakes)
        try:
            idle = 0
            while self.now < wakes:
                await asyncio.sleep(0)
                idle = idle + 1 if self._wakes[0] >= wakes else 0
                if idle > _TURNS:
                    self.now = wakes
        finally:
            self._wakes.remove(wakes)
            heapq.heapify(self._wakes)


class Script:
    """A tool that plays its part: it raises the exceptions and returns the values it was given, in order.

    The last one is repeated. ``calls`` lists the arguments of each call; with a ``clock``, each takes ``seconds``.
    """

    def __init__(self, *acts: Any, clock: VirtualClock | None = None, seconds: float = 0.0) -> None:
        if not acts:
            raise ValueError("a script needs at least one act: an exception to raise or a value to return")
        self.acts = acts
        self.calls: list[dict[str, Any]] = []
        self._clock = clock
        self._seconds = seconds

    def __call__(self, **arguments: Any) -> Any:
        """Play the next act."""
        self.calls.append(arguments)
        if self._clock is not None:
            self._clock.advance(self._seconds)
        act = self.acts[min(len(self.calls), len(self.acts)) - 1]
        if isinstance(act, BaseException) or (isinstance(act, type) and issubclass(act, BaseException)):
            raise act
        return act


class Bench:
    """A layer on a virtual clock, with its events in a list and jitter off unless the policy asks for it."""

    def __init__(self, policy: Policy | None = None, **layer: Any) -> None:
        self.clock = VirtualClock()
        self.events: list[Event] = []
        self.layer = RecoveryLayer(
            policy or steady(),
            **{
                "clock": self.clock,
                "sleep": self.clock.sleep,
                "asleep": self.clock.asleep,
                "random": Random(7),  # noqa: S311 - the same jitter in every test
                "on_event": self.events.append,
                **layer,
            },
        )

    def tool(self, name: str, *acts: Any, effects: Effects = "write", seconds: float = 0.0, **declared: Any) -> Script:
        """Register a tool that plays a script, and give the script."""
        script = Script(*acts, clock=self.clock, seconds=seconds)
        self.layer.tool(name=name, effects=effects, **declared)(script)
        return script

    def of(self, kind: type[E]) -> list[E]:
        """List the events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]


def steady(policy: Policy | None = None, **retry: Any) -> Policy:
    """Give the policy without jitter, and with other ``retry`` keys where given: delays become exact."""
    policy = policy or Policy()
    return policy.model_copy(update={"retry": policy.retry.model_copy(update={"jitter": "none", **retry})})


def failures_to_open(policy: BreakerPolicy, *, every: float = 0.1, limit: int = 10_000) -> int | None:
    """Count the failures in a row, one each ``every`` seconds, that open a breaker; None if ``limit`` do not.

    ``assert failures_to_open(BreakerPolicy(mode="consecutive")) == 5``
    """
    breaker, now = ServiceBreaker("test", policy), 0.0
    for number in range(1, limit + 1):
        now += every
        ticket = breaker.admit(now, lambda _move: None)
        if isinstance(ticket, Rejection):
            return None
        breaker.record(ticket, ok=False, seconds=0.0, now=now)
        if breaker.state == "open":
            return number
    return None


class Chaos:
    """Wraps a tool so that a share of its calls goes wrong. For users' own tests, never for production.

    Args:
        faults: Exceptions (or classes) to raise; one is drawn each time.
        rate: Share of calls that raise.
        latency: Seconds that are added to a call, by ``sleep``.
        wrong: Turns a good result into a wrong one, for ``wrong_rate`` of the calls.
    """

    def __init__(
        self,
        random: Random,
        *,
        faults: tuple[BaseException | type[BaseException], ...] = (ConnectionResetError,),
        rate: float = 0.0,
        latency: float = 0.0,
        sleep: Callable[[float], None] | None = None,
        wrong: Callable[[Any], Any] | None = None,
        wrong_rate: float = 0.0,
    ) -> None:
        self._random = random
        self._faults = faults
        self._rate = rate
        self._latency = latency
        self._sleep = sleep
        self._wrong = wrong
        self._wrong_rate = wrong_rate
        self.injected = 0
        """Faults and wrong results so far."""

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give the tool that goes wrong; it has the wrapped one's signature."""

        def sync(*args: Any, **kwargs: Any) -> Any:
            self._before()
            return self._after(function(*args, **kwargs))

        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            self._before()
            return self._after(await function(*args, **kwargs))

        wrapper: Any = asynchronous if inspect.iscoroutinefunction(function) else sync
        wrapper.__name__ = getattr(function, "__name__", "chaos")
        wrapper.__doc__ = function.__doc__
        wrapper.__signature__ = inspect.signature(function)
        return wrapper  # type: ignore[no-any-return]

    def _before(self) -> None:
        if self._latency and self._sleep is not None:
            self._sleep(self._latency)
        if self._random.uniform(0, 1) < self._rate:
            self.injected += 1
            raise self._random.choice(self._faults)

    def _after(self, value: Any) -> Any:
        if self._wrong is None or self._random.uniform(0, 1) >= self._wrong_rate:
            return value
        self.injected += 1
        return self._wrong(value)
