"""What is decided about each failed attempt, told field by field."""

from dataclasses import replace

import pytest

from otel_toolerrors.engine import Stop
from otel_toolerrors.faults import classify
from otel_toolerrors.policy import BreakerPolicy, BudgetPolicy, Policy
from otel_toolerrors.testing import steady
from otel_toolerrors.vocabulary import (
    BudgetExhausted,
    CredentialsRefreshed,
    FaultClassified,
    RetryRefused,
    RetryScheduled,
)
from tests.layer.errors import http_error

from .setting import DRIVERS, Setting

BUSY = http_error(429, {"retry-after": "7"})


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_classification_carries_the_whole_fault(drive):
    """The event says all that the classifier said."""
    setting = Setting(BUSY, "well")
    fault = setting.call(drive).fault
    assert [
        FaultClassified(
            tool="search", attempt=1, category=fault.category, code=fault.code, passing=fault.passing,
            retryable=fault.retryable, side_effects=fault.side_effects, fingerprint=fault.fingerprint,
            message=fault.message, exception_type=fault.exception_type, http_status=429, retry_after=7.0,
            signal=fault.signal, strength=fault.strength, dissent=fault.dissent, would=None,
        )
    ] == setting.of(FaultClassified)  # fmt: skip
    assert ("rate_limited", "http.429", "httpx.HTTPStatusError") == (fault.category, fault.code, fault.exception_type)


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_classification_says_what_speaks_against_it(drive):
    """The body won over the status, and the event tells of both."""
    setting = Setting(http_error(503, body={"error": {"type": "invalid_request_error"}}))
    setting.call(drive)
    assert [("validation", "status=transient")] == [(e.category, e.dissent) for e in setting.of(FaultClassified)]


@pytest.mark.parametrize("drive", DRIVERS)
@pytest.mark.parametrize(
    ("error", "retry", "basis", "delay"),
    [
        (TimeoutError("slow"), {}, "backoff", 0.5),
        (BUSY, {}, "retry_after", 7.0),
        (TimeoutError("slow"), {"persistent": True, "heartbeat": 30}, "persistent", 0.5),
    ],
)
def test_a_retry_says_when_and_why_then(drive, error, retry, basis, delay):
    """How long the wait is, and what it goes by."""
    setting = Setting(error, "well", policy=steady(**retry))
    fault = setting.call(drive).fault
    assert [
        RetryScheduled(
            tool="search", attempt=1, delay=delay, basis=basis, code=fault.code, fingerprint=fault.fingerprint
        )
    ] == setting.of(RetryScheduled)
    assert delay == setting.witness.now


@pytest.mark.parametrize("drive", DRIVERS)
@pytest.mark.parametrize(
    ("error", "retry", "reason", "delay"),
    [
        (TimeoutError("slow"), {"max_attempts": 1}, "attempts", None),
        (ValueError("bad"), {}, "not_retryable", None),
        (http_error(429, {"retry-after": "500"}), {"total_timeout": 60}, "deadline", 500.0),
    ],
)
def test_a_refusal_says_why_and_how_long_it_would_have_been(drive, error, retry, reason, delay):
    """The wait is told only where it is the reason."""
    setting = Setting(error, policy=steady(**retry))
    decision = setting.call(drive)
    assert reason == decision.refusal
    assert [
        RetryRefused(
            tool="search", attempt=1, reason=reason, code=decision.fault.code, delay=delay,
            fingerprint=decision.fault.fingerprint,
        )
    ] == setting.of(RetryRefused)  # fmt: skip


@pytest.mark.parametrize("drive", DRIVERS)
@pytest.mark.parametrize(
    ("error", "cost"),
    [(TimeoutError("slow"), "transient_cost"), (http_error(429, {"retry-after": "1"}), "throttle_cost")],
)
def test_an_empty_budget_says_whose_it_is_and_what_is_left(drive, error, cost):
    """What a throttle costs is not what a failure costs."""
    budget = BudgetPolicy(capacity=12, floor=0)
    setting = Setting(error, error, policy=steady(Policy(budget=budget)), service="api")
    while setting.around.services.get("api").budget.tokens >= getattr(budget, cost):
        setting.around.services.get("api").budget.take(throttled=cost == "throttle_cost")
    left = setting.around.services.get("api").budget.tokens
    assert "budget" == setting.call(drive).refusal
    assert [BudgetExhausted(tool="search", service="api", tokens=left)] == setting.of(BudgetExhausted)
    assert ["budget"] == [event.reason for event in setting.of(RetryRefused)]


@pytest.mark.parametrize("drive", DRIVERS)
@pytest.mark.parametrize(("error", "left"), [(TimeoutError("slow"), 486.0), (BUSY, 495.0)])
def test_a_retry_is_paid_by_what_it_follows(drive, error, left):
    """A failure costs 14 of 500, a rate limit 5; of a retry that failed nothing comes back."""
    setting = Setting(error, error, policy=steady(max_attempts=2), service="api")
    assert "attempts" == setting.call(drive).refusal
    assert left == setting.around.services.get("api").budget.tokens


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_retry_that_failed_is_not_under_way_any_more(drive):
    """The floor of an empty budget is for one retry at a time, and here they are made one after the other."""
    budget = BudgetPolicy(capacity=0, floor=1)
    setting = Setting(*[TimeoutError("slow")] * 2, "well", policy=steady(Policy(budget=budget), max_attempts=3))
    assert ("ok", 3) == ((decision := setting.call(drive)).kind, decision.attempts)


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_server_may_ask_for_as_long_as_the_cap(drive):
    """The cap itself is not too long."""
    setting = Setting(BUSY, "well", policy=steady(retry_after_cap=7.0))
    assert "ok" == setting.call(drive).kind


@pytest.mark.parametrize("drive", DRIVERS)
def test_only_a_401_has_the_credential_refreshed(drive):
    """Before and after other faults, and once."""
    acts = [TimeoutError("slow"), http_error(401), TimeoutError("slow"), "well"]
    setting = Setting(*acts, credential="shop")
    assert ("ok", 4) == ((decision := setting.call(drive)).kind, decision.attempts)
    assert [CredentialsRefreshed(tool="search", credential="shop", succeeded=True)] == setting.of(CredentialsRefreshed)


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_refreshed_credential_that_is_refused_later_is_final(drive):
    """Also where another fault came between."""
    setting = Setting(http_error(401), TimeoutError("slow"), http_error(401), credential="shop")
    assert ("stopped", 3) == ((decision := setting.call(drive)).kind, decision.attempts)
    assert 1 == len(setting.of(CredentialsRefreshed))


@pytest.mark.parametrize("drive", DRIVERS)
def test_without_a_credential_a_401_is_final(drive):
    """There is nothing to refresh."""
    setting = Setting(http_error(401))
    assert ("stopped", 1) == ((decision := setting.call(drive)).kind, decision.attempts)
    assert [] == setting.of(CredentialsRefreshed)


@pytest.mark.parametrize("drive", DRIVERS)
def test_where_another_call_has_the_probe_the_last_failure_is_reported(drive):
    """It says more than that the service rests."""
    breaker = BreakerPolicy(mode="consecutive", consecutive_failures=1, cooldown=0.1)
    setting = Setting(TimeoutError("slow"), policy=steady(Policy(breaker=breaker)), service="api")
    sleep = setting.witness.sleep

    def meanwhile(seconds):
        sleep(seconds)
        setting.around.services.get("api").breaker.admit(setting.witness.now, lambda _move: None)

    setting.witness.sleep = meanwhile
    decision = setting.call(drive)
    assert (1, "breaker", "timeout") == (decision.attempts, decision.refusal, decision.fault.code)


@pytest.mark.parametrize("drive", DRIVERS)
def test_decorrelated_waits_follow_one_another(drive):
    """The second wait is drawn from what the first one was."""
    drawn = []

    class Highest:
        def uniform(self, low, high):
            drawn.append((low, high))
            return high

    setting = Setting(*[TimeoutError("slow")] * 3, "well", policy=steady(max_attempts=4, jitter="decorrelated"))
    setting.around = replace(setting.around, random=Highest())
    assert setting.call(drive).kind == "ok"
    assert [(0.5, 1.5), (0.5, 4.5), (0.5, 13.5)] == drawn


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_call_that_its_breaker_rejects_says_so(drive):
    """No attempt was made, and the breaker is the reason that none followed."""
    setting = Setting("well", policy=steady(Policy(breaker=BreakerPolicy(control="forced_open"))))
    decision = setting.call(drive)
    assert ("stopped", 0, "breaker", "breaker.open") == (
        decision.kind, decision.attempts, decision.refusal, decision.fault.code
    )  # fmt: skip


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_run_that_stops_during_the_wait_is_the_reason(drive):
    """The attempt that was planned is not made."""
    setting = Setting(TimeoutError("slow"), "well")
    setting.witness.sleep = lambda _seconds: setting.run.stop(Stop("aborted", ""))
    decision = setting.call(drive)
    assert (1, "run") == (decision.attempts, decision.refusal)
    assert [("run", 1, "timeout")] == [(e.reason, e.attempt, e.code) for e in setting.of(RetryRefused)]


@pytest.mark.parametrize("drive", DRIVERS)
def test_what_must_not_be_made_says_why(drive):
    """A run that has stopped, and a tool that it has given up."""
    setting = Setting("well")
    setting.run.degrade("search")
    given_up = setting.call(drive)
    assert ("degraded", "tool.degraded", "given up for this run") == (
        given_up.kind, given_up.fault.code, given_up.fault.message
    )  # fmt: skip
    setting.run.stop(Stop("aborted", ""))
    after = setting.call(drive)
    assert ("cancelled", "aborted", 0) == (after.kind, after.stop, after.attempts)


# Pacing: somebody else was told to wait.


def paced(seconds, **more):
    """A setting whose service has asked callers to wait, as of now."""
    setting = Setting("well", policy=steady(total_timeout=60), service="api", **more)
    setting.around.services.get("api").pacer.limited(0.0, seconds)
    return setting


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_paced_call_waits_and_says_so(drive):
    """No attempt has been made yet, and the wait is the service's and its spread."""
    setting = paced(10.0)
    assert ("ok", 1) == ((decision := setting.call(drive)).kind, decision.attempts)
    [waited] = setting.of(RetryScheduled)
    assert ("search", 0, "pacing", "rate_limit.paced") == (waited.tool, waited.attempt, waited.basis, waited.code)
    assert waited.delay == setting.witness.now
    assert 10.0 <= waited.delay <= 11.0


@pytest.mark.parametrize("drive", DRIVERS)
@pytest.mark.parametrize(
    ("seconds", "source", "reason"), [(100.0, "main_agent", "deadline"), (10.0, "background", "source")]
)
def test_a_call_that_may_not_wait_so_long_fails_now(drive, seconds, source, reason):
    """Beyond its deadline, or where nobody waits for it, it is not made at all; its fault says how long."""
    setting = paced(seconds, source=source)
    decision = setting.call(drive)
    [refused] = setting.of(RetryRefused)
    assert (0, reason, reason) == (decision.attempts, decision.refusal, refused.reason)
    assert seconds <= refused.delay == decision.fault.retry_after <= 1.1 * seconds


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_run_that_stops_meanwhile_makes_no_attempt(drive):
    """Whoever waited gives up, and says that the run was the reason."""
    setting = paced(10.0)
    sleep = setting.witness.sleep

    def stop(seconds):
        sleep(seconds)
        setting.run.stop(Stop("aborted", ""))

    setting.witness.sleep = stop
    decision = setting.call(drive)
    assert (0, "run") == (decision.attempts, decision.refusal)
    assert [("run", "rate_limit.paced", None)] == [(e.reason, e.code, e.delay) for e in setting.of(RetryRefused)]


def test_a_fault_says_when_its_service_may_be_asked_again():
    """The classifier read the wait from the response."""
    assert 7.0 == classify(BUSY).retry_after
