"""The kit that users test with is tested like everything else."""

import asyncio
import inspect
from random import Random

import pytest

from otel_toolerrors.policy import BreakerPolicy
from otel_toolerrors.testing import Bench, Chaos, Script, VirtualClock, failures_to_open, steady


def test_script_plays_in_order_and_repeats_the_end():
    """Exceptions are raised, values returned, arguments kept."""
    script = Script(KeyError, 1, 2)
    with pytest.raises(KeyError):
        script(a=1)
    assert [1, 2, 2] == [script(), script(), script()]
    assert {"a": 1} == script.calls[0]


def test_script_needs_an_act():
    """An empty play is a mistake of the test's."""
    with pytest.raises(ValueError, match="at least one act"):
        Script()


def test_clock_moves_only_when_told():
    """Sleeping and advancing, and nothing else."""
    clock = VirtualClock(5.0)
    assert 5.0 == clock() == clock()
    clock.sleep(1.0)
    clock.advance(2.0)
    assert 8.0 == clock()
    assert [1.0] == clock.slept


def test_concurrent_sleepers_wake_in_order():
    """Each at its own time, however they were started."""
    clock, woke = VirtualClock(0.0), []

    async def sleeper(seconds):
        await clock.asleep(seconds)
        woke.append((seconds, clock.now))

    async def main():
        await asyncio.gather(*(sleeper(seconds) for seconds in (3.0, 1.0, 2.0)))

    asyncio.run(main())
    assert [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)] == woke


def test_policies_can_be_asserted():
    """The sentence from the documentation holds."""
    assert 5 == failures_to_open(BreakerPolicy(mode="consecutive"))


def test_steady_takes_the_chance_out():
    """Exact delays, other keys as given."""
    assert ("none", 2) == (steady(max_attempts=2).retry.jitter, steady(max_attempts=2).retry.max_attempts)


def test_chaos_injects_its_share():
    """Faults, latency and wrong results, counted, and the same with the same seed."""
    clock = VirtualClock()
    chaos = Chaos(Random(3), rate=0.3, latency=0.5, sleep=clock.sleep, wrong=lambda _value: "wrong", wrong_rate=0.2)
    tool = chaos.wrap(lambda: "right")
    seen = {"right": 0, "wrong": 0, "fault": 0}
    for _ in range(1_000):
        try:
            seen[tool()] += 1
        except ConnectionResetError:
            seen["fault"] += 1
    assert 0.3 == pytest.approx(seen["fault"] / 1_000, abs=0.05)
    assert 0.14 == pytest.approx(seen["wrong"] / 1_000, abs=0.05)
    assert chaos.injected == seen["fault"] + seen["wrong"]
    assert [0.5] * 1_000 == clock.slept


def test_chaos_keeps_the_tool_s_face():
    """Name, text and signature stay, so that a model is told the same."""

    async def search(query: str, limit: int = 3) -> str:
        """Search."""
        return query * limit

    wrapped = Chaos(Random(1)).wrap(search)
    assert ("search", "Search.") == (wrapped.__name__, wrapped.__doc__)
    assert inspect.signature(search) == inspect.signature(wrapped)
    assert "aaa" == asyncio.run(wrapped("a"))


def test_layer_recovers_what_chaos_breaks():
    """A read under a third of faults still nearly always answers."""
    bench = Bench()
    bench.layer.tool(name="search", effects="read")(Chaos(Random(5), rate=0.3).wrap(lambda: "hit"))
    answered = 0
    for _ in range(200):
        with bench.layer.run() as run:
            answered += run.call("search").ok
    assert answered > 180
