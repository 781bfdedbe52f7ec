"""What the drivers tell whoever watches a call: the same for both, and for a first attempt as for later ones."""

import asyncio
from random import Random

import pytest

from otel_toolerrors.engine import (
    AsyncHands,
    Call,
    Failure,
    Hands,
    ResultCache,
    RunState,
    Services,
    Stop,
    Surroundings,
    SyncHands,
    amake,
    make,
)
from otel_toolerrors.faults import classify, is_control_flow
from otel_toolerrors.policy import Declaration, resolve
from otel_toolerrors.testing import steady
from otel_toolerrors.vocabulary import BreakerMoved, FaultClassified, RunStopped

BAD = "in-band"


class Witness:
    """An observer that writes down what it is told."""

    def __init__(self):
        self.told = []

    def attempt_started(self, tool, number):
        self.told.append(("started", tool, number))

    def attempt_ended(self, fault):
        self.told.append(("ended", fault and fault.code))

    def event(self, event):
        self.told.append(event)


def _sync(call, hands, tool, witness):
    return make(call, hands, SyncHands(tool, lambda _seconds: None, lambda _credential: True), witness)


def _async(call, hands, tool, witness):
    async def acall(attempt):
        return tool(attempt)

    async def nothing(_argument):
        return True

    return asyncio.run(amake(call, hands, AsyncHands(acall, nothing, nothing), witness))


class Setting:
    """A policy, a run and a service, and hands that call a scripted tool."""

    def __init__(self, *acts, **declared):
        self.policy = steady(max_attempts=declared.pop("max_attempts", 4))
        self.rules = resolve(self.policy, "search", Declaration(effects="read", **declared), "main_agent")
        self.run = RunState(self.policy.run)
        self.around = Surroundings(self.run, Services(self.policy), Random(1), lambda _tool: None, ResultCache())
        self.hands = Hands(lambda: 0.0, self._judge, self._inspect, is_control_flow)
        self.events, self.witness, self._acts = [], Witness(), iter(acts)

    def call(self, drive):
        call = Call("search", {}, rules=self.rules, around=self.around, now=0.0, emit=self.events.append, target="t1")
        return drive(call, self.hands, self._tool, self.witness)

    def _tool(self, _attempt):
        act = next(self._acts)
        if isinstance(act, Exception):
            raise act
        return act

    @staticmethod
    def _judge(attempt, error):
        return classify(error, effects=attempt.effects)

    @staticmethod
    def _inspect(attempt, value):
        return classify(ConnectionResetError(104, "reset"), effects=attempt.effects) if value == BAD else None


@pytest.mark.parametrize("drive", [_sync, _async])
def test_every_attempt_is_told_with_its_tool_number_and_end(drive):
    """Raised or returned, an error is told as the end of the attempt that it ended."""
    setting = Setting(TimeoutError("slow"), BAD, "well")

    decision = setting.call(drive)

    assert ("ok", "well", 3, ("search",) * 3) == (decision.kind, decision.value, decision.attempts, decision.tried)
    assert [
        ("started", "search", 1), ("ended", "timeout"),
        ("started", "search", 2), ("ended", "connection.reset"),
        ("started", "search", 3), ("ended", None),
    ] == setting.witness.told  # fmt: skip
    assert [1, 2] == [event.attempt for event in setting.events if isinstance(event, FaultClassified)]


@pytest.mark.parametrize("drive", [_sync, _async])
def test_a_recalled_result_says_what_it_is(drive):
    """The cache stands in as ``stale``, with its age."""
    setting = Setting("first", TimeoutError("slow"), cache_ttl=60.0, max_attempts=1)
    setting.call(drive)
    decision = setting.call(drive)
    assert ("ok", "first", "cache", "stale", 0.0) == (
        decision.kind, decision.value, decision.fallback, decision.quality, decision.age
    )  # fmt: skip


@pytest.mark.parametrize("drive", [_sync, _async])
def test_without_a_ttl_nothing_is_recalled(drive):
    """Another tool's kept result under the same digest is nobody's business."""
    setting = Setting(TimeoutError("slow"), max_attempts=1)
    setting.around.cache.keep("t1", "not ours", 0.0)
    assert "stopped" == setting.call(drive).kind


@pytest.mark.parametrize("drive", [_sync, _async])
def test_a_failure_is_logged_with_what_it_was_aimed_at(drive):
    """The next attempt at the same target is shown it."""
    setting = Setting(ValueError("bad"))
    decision = setting.call(drive)
    assert ("surfaced", 1) == (decision.kind, decision.failures)
    assert [Failure("search", "t1", decision.fault)] == setting.run.failures


@pytest.mark.parametrize("drive", [_sync, _async])
def test_a_stop_names_the_call_and_the_fault(drive):
    """What stopped the run is on the run, and is told once."""
    setting = Setting(PermissionError(13, "denied"))
    decision = setting.call(drive)
    assert ("stopped", "permission", 0) == (decision.kind, decision.stop, decision.failures)
    assert Stop("permission", "search", decision.fault) == setting.run.stopped
    assert [
        RunStopped(tool="search", reason="permission", category="permission", code=decision.fault.code)
    ] == [event for event in setting.events if isinstance(event, RunStopped)]  # fmt: skip


@pytest.mark.parametrize("drive", [_sync, _async])
def test_the_run_breaker_says_how_many_in_a_row(drive):
    """Its move carries the tool and the row."""
    limit = steady().run.tool_failures
    setting = Setting(*[ValueError("bad")] * limit)
    decisions = [setting.call(drive) for _ in range(limit)]
    assert ["surfaced"] * (limit - 1) + ["stopped"] == [decision.kind for decision in decisions]
    assert [
        BreakerMoved(
            breaker="run", name="search", from_state="closed", to_state="open", reason="consecutive", failures=limit,
            calls=limit,
        )
    ] == [event for event in setting.events if isinstance(event, BreakerMoved)]  # fmt: skip
