"""Events say what happened, field by field: dashboards and replay read every one of them."""

import pytest

from otel_toolerrors.policy import BreakerPolicy, Policy, RetryPolicy
from otel_toolerrors.testing import Bench, steady
from otel_toolerrors.vocabulary import (
    BreakerMoved,
    BreakerRejected,
    CredentialsRefreshed,
    FallbackUsed,
    RetryRefused,
    RetryScheduled,
    ToolDegraded,
    WaitHeartbeat,
)
from tests.layer.errors import http_error


def test_moves_of_a_breaker(call):
    """From, to, why, how many failures of how many attempts, and for how long."""
    policy = Policy(breaker=BreakerPolicy(failure_rate=0.6, minimum_calls=3, cooldown=20))
    bench = Bench(steady(policy, max_attempts=1))
    bench.tool("ask", "ok", *[http_error(503)] * 3, "ok", effects="read", service="api")
    for _ in range(3):
        with bench.layer.run() as run:
            call(run, "ask")
    with bench.layer.run() as run:
        call(run, "ask")
    bench.clock.advance(20)
    with bench.layer.run() as run:
        call(run, "ask")
    common = {"breaker": "service", "name": "api", "shadow": False}
    assert [
        BreakerMoved(
            from_state="closed", to_state="open", reason="failure_rate", failures=2, calls=3, cooldown=20, **common
        ),
        BreakerMoved(from_state="open", to_state="half_open", reason="cooldown_over", failures=0, calls=0, **common),
        BreakerMoved(
            from_state="half_open", to_state="open", reason="probe_failed", failures=0, calls=0, cooldown=20, **common
        ),
    ] == bench.of(BreakerMoved)
    assert [BreakerRejected(tool="ask", breaker="service", name="api", state="open", retry_after=20.0)] == bench.of(
        BreakerRejected
    )


def test_a_row_is_counted_as_the_row(call):
    """In mode consecutive the failures are those in a row, whatever the window holds."""
    policy = Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=2))
    bench = Bench(steady(policy, max_attempts=1))
    bench.tool("ask", http_error(503), "ok", http_error(503), http_error(503), effects="read")
    for _ in range(4):
        with bench.layer.run() as run:
            call(run, "ask")
    assert [("consecutive", 2, 4)] == [(m.reason, m.failures, m.calls) for m in bench.of(BreakerMoved)]


def test_slow_calls_need_their_volume(call):
    """One slow answer is no sickness."""
    policy = Policy(breaker=BreakerPolicy(slow_call=1.0, minimum_calls=3))
    bench = Bench(steady(policy))
    bench.tool("ask", "ok", effects="read", seconds=2.0)
    with bench.layer.run() as run:
        call(run, "ask")
        call(run, "ask")
        assert [] == bench.of(BreakerMoved)
        call(run, "ask")
    assert ["slow_calls"] == [move.reason for move in bench.of(BreakerMoved)]


def test_a_stale_result(call):
    """Which tool, what stood in, why, how old."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("rate", 1, TimeoutError(), effects="read", cache_ttl=60)
    with bench.layer.run() as run:
        call(run, "rate")
        bench.clock.advance(60)
        outcome = call(run, "rate")
    assert [
        FallbackUsed(tool="rate", fallback="cache", succeeded=True, code="timeout", quality="stale", age=60.0)
    ] == bench.of(FallbackUsed)
    assert ("cache", 60.0, "timeout") == (outcome.fallback, outcome.age, outcome.fault.code)


def test_a_fallback_that_keeps_its_arguments(call):
    """What is not renamed keeps its name; the fault that made it necessary stays on the outcome."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("a", TimeoutError(), effects="read", fallback=("b",))
    other = bench.tool("b", "hit", effects="read")
    with bench.layer.run() as run:
        outcome = call(run, "a", {"q": 1})
    assert [{"q": 1}] == other.calls
    assert [FallbackUsed(tool="a", fallback="b", succeeded=True, code="timeout")] == bench.of(FallbackUsed)
    assert ("timeout", ("a", "b"), 2) == (outcome.fault.code, outcome.tried, outcome.attempts)


def test_a_stand_in_is_a_success_for_the_run_breaker(call):
    """The model got its answer: the row of failures is over."""
    bench = Bench(steady(Policy.model_validate({"run": {"tool_failures": 2}}), max_attempts=1))
    bench.tool("a", ValueError("x"), TimeoutError(), ValueError("x"), effects="read", fallback=("b",))
    bench.tool("b", "hit", effects="read")
    with bench.layer.run() as run:
        assert ["surfaced", "ok", "surfaced"] == [call(run, "a").kind for _ in range(3)]


def test_a_refresh(call):
    """Whose credential, and the repeat that follows at once."""
    bench = Bench(credentials={"github": lambda: None})
    bench.tool("issue", http_error(401), "ok", effects="read", credential="github")
    with bench.layer.run() as run:
        outcome = call(run, "issue")
    assert [CredentialsRefreshed(tool="issue", credential="github", succeeded=True)] == bench.of(CredentialsRefreshed)
    scheduled = bench.of(RetryScheduled)[0]
    assert ("issue", 1, 0.0, "credentials", "http.401", outcome.fault.fingerprint) == (
        scheduled.tool,
        scheduled.attempt,
        scheduled.delay,
        scheduled.basis,
        scheduled.code,
        scheduled.fingerprint,
    )
    assert ("issue", "issue") == outcome.tried


def test_a_refresh_that_failed(call):
    """The event says so, and no repeat is scheduled."""
    bench = Bench(credentials={"github": lambda: False})
    bench.tool("issue", http_error(401), effects="read", credential="github")
    with bench.layer.run() as run:
        call(run, "issue")
    assert [False] == [event.succeeded for event in bench.of(CredentialsRefreshed)]
    assert [] == bench.of(RetryScheduled)


def test_a_degraded_tool(call):
    """Its name and the reason."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("weather", TimeoutError(), effects="read", optional=True)
    with bench.layer.run() as run:
        call(run, "weather")
    assert [ToolDegraded(tool="weather", code="timeout")] == bench.of(ToolDegraded)


@pytest.mark.parametrize(
    ("error", "effects"),
    [(ValueError("bad"), "read"), (TimeoutError("late"), "write")],
    ids=["an answer", "an open write"],
)
def test_optional_is_no_excuse(call, error, effects):
    """An answer that the model can act on is shown, and a write that may have happened is told: neither degrades."""
    bench = Bench()
    bench.tool("act", error, effects=effects, optional=True)
    with bench.layer.run() as run:
        assert "degraded" != call(run, "act").kind
    assert [] == bench.of(ToolDegraded)


def test_heartbeats_beat_only_unattended(call):
    """An ordinary wait is one piece, however long; an unattended one tells of each piece but the last."""
    wait = http_error(503, {"retry-after-ms": "60500"})
    bench = Bench()
    bench.tool("ask", wait, "ok", effects="read")
    with bench.layer.run() as run:
        call(run, "ask")
    assert [60.5] == bench.clock.slept
    assert [] == bench.of(WaitHeartbeat)
    bench = Bench(steady(persistent=True))
    bench.tool("ask", wait, "ok", effects="read")
    with bench.layer.run() as run:
        call(run, "ask")
    assert [
        WaitHeartbeat(tool="ask", waited=30.0, remaining=30.5),
        WaitHeartbeat(tool="ask", waited=60.0, remaining=0.5),
    ] == bench.of(WaitHeartbeat)


def test_a_recovered_call_pays_its_retry_back(call):
    """The budget is as it was: a retry that helped was worth it."""
    bench = Bench(steady())
    bench.tool("ask", ConnectionResetError(), "ok", effects="read")
    with bench.layer.run() as run:
        call(run, "ask")
    assert 500.0 == bench.layer.services.get("ask").budget.tokens


def test_rate_limits_without_a_status_are_capacity_errors_too(call):
    """A background call does not wait for a limit, however it was told."""
    limited = http_error(403, {"retry-after": "2", "x-ratelimit-remaining": "0"})
    bench = Bench()
    bench.tool("ask", limited, effects="read")
    with bench.layer.run(source="title") as run:
        call(run, "ask")
    assert ["source"] == [refusal.reason for refusal in bench.of(RetryRefused)]


def test_a_retry_that_would_be_rejected_is_not_waited_for(call):
    """When the breaker opens, nobody sleeps towards a closed door; if it will be open for a probe, they do."""
    row = BreakerPolicy(mode="consecutive", consecutive_failures=1, cooldown=2.0)
    for delay, attempts in ((1.0, 1), (2.0, 2)):
        retry = RetryPolicy(jitter="none", base_delay=delay, max_attempts=2)
        bench = Bench(Policy(breaker=row, retry=retry))
        bench.tool("ask", ConnectionResetError(), effects="read")
        with bench.layer.run() as run:
            assert attempts == call(run, "ask").attempts


def test_a_breaker_forced_open_in_mid_call_ends_it(call):
    """An operator's switch holds for retries too."""
    bench = Bench(steady())
    forced = steady(Policy(breaker=BreakerPolicy(control="forced_open")))

    @bench.layer.tool(effects="read")
    def ask() -> None:
        bench.layer.reload(forced)
        raise ConnectionResetError

    with bench.layer.run() as run:
        outcome = call(run, "ask")
    assert 1 == outcome.attempts
    assert "breaker" == bench.of(RetryRefused)[0].reason
