"""What the drivers tell whoever watches a call: the same for both, and for a first attempt as for later ones."""

import pytest

from otel_toolerrors.engine import Failure, Stop
from otel_toolerrors.testing import steady
from otel_toolerrors.vocabulary import BreakerMoved, FaultClassified, RunStopped

from .setting import BAD, DRIVERS, Setting


@pytest.mark.parametrize("drive", DRIVERS)
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
    assert [1, 2] == [event.attempt for event in setting.of(FaultClassified)]


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_recalled_result_says_what_it_is(drive):
    """The cache stands in as ``stale``, with its age."""
    setting = Setting("first", TimeoutError("slow"), cache_ttl=60.0, policy=steady(max_attempts=1))
    setting.call(drive)
    decision = setting.call(drive)
    assert ("ok", "first", "cache", "stale", 0.0) == (
        decision.kind, decision.value, decision.fallback, decision.quality, decision.age
    )  # fmt: skip


@pytest.mark.parametrize("drive", DRIVERS)
def test_without_a_ttl_nothing_is_recalled(drive):
    """Another tool's kept result under the same digest is nobody's business."""
    setting = Setting(TimeoutError("slow"), policy=steady(max_attempts=1))
    setting.around.cache.keep("t1", "not ours", 0.0)
    assert "stopped" == setting.call(drive).kind


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_failure_is_logged_with_what_it_was_aimed_at(drive):
    """The next attempt at the same target is shown it."""
    setting = Setting(ValueError("bad"))
    decision = setting.call(drive)
    assert ("surfaced", 1) == (decision.kind, decision.failures)
    assert [Failure("search", "t1", decision.fault)] == setting.run.failures


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_stop_names_the_call_and_the_fault(drive):
    """What stopped the run is on the run, and is told once."""
    setting = Setting(PermissionError(13, "denied"))
    decision = setting.call(drive)
    assert ("stopped", "permission", 0) == (decision.kind, decision.stop, decision.failures)
    assert Stop("permission", "search", decision.fault) == setting.run.stopped
    assert [
        RunStopped(tool="search", reason="permission", category="permission", code=decision.fault.code)
    ] == setting.of(RunStopped)  # fmt: skip


@pytest.mark.parametrize("drive", DRIVERS)
def test_the_run_breaker_says_how_many_in_a_row(drive):
    """Its move carries the tool and the row."""
    limit = steady().run.tool_failures
    setting = Setting(*[ValueError("bad")] * limit)
    decisions = [setting.call(drive) for _ in range(limit)]
    assert ["surfaced"] * (limit - 1) + ["stopped"] == [decision.kind for decision in decisions]
    assert list(range(1, limit + 1)) == [decision.failures for decision in decisions]
    assert [
        BreakerMoved(
            breaker="run", name="search", from_state="closed", to_state="open", reason="consecutive", failures=limit,
            calls=limit,
        )
    ] == setting.of(BreakerMoved)  # fmt: skip
