"""What the runs of a layer share: breakers, budgets, pacing."""

import asyncio

import pytest

from otel_toolerrors.policy import BreakerPolicy, BudgetPolicy, Policy, ServicePolicy
from otel_toolerrors.testing import Bench, steady
from otel_toolerrors.vocabulary import BreakerMoved, BreakerRejected, BudgetExhausted, RetryRefused, RetryScheduled
from tests.layer.errors import http_error

ROW_OF_TWO = Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=2, cooldown=30))


def test_open_breaker_goes_straight_to_the_fallback(call):
    """A service known to be down is not asked, and no retry is spent on it."""
    bench = Bench(steady(ROW_OF_TWO))
    sick = bench.tool("search", http_error(503), effects="read", service="search-api", fallback=("backup",))
    bench.tool("backup", "hit", effects="read")

    with bench.layer.run() as run:
        first, second = call(run, "search"), call(run, "search")

    assert 2 == len(sick.calls), "the second failure opens it; the third attempt is not made"
    assert "breaker" == bench.of(RetryRefused)[0].reason
    assert ("ok", "backup", 1) == (second.kind, second.fallback, second.attempts)
    assert first.ok
    assert [("search-api", "open")] == [(r.name, r.state) for r in bench.of(BreakerRejected)]


def test_open_breaker_without_a_fallback_says_how_long(call):
    """The outcome carries the time left."""
    bench = Bench(steady(ROW_OF_TWO))
    bench.tool("search", http_error(503), effects="read")
    with bench.layer.run() as run:
        call(run, "search")
    bench.clock.advance(10)

    with bench.layer.run() as run:
        outcome = call(run, "search")

    assert ("stopped", "breaker.open", 0) == (outcome.kind, outcome.envelope.error.code, outcome.attempts)
    assert 20.0 == outcome.envelope.error.retry_after


def test_tools_of_one_service_share_its_breaker(call):
    """What one tool learns about a service, the others know."""
    bench = Bench(steady(ROW_OF_TWO))
    bench.tool("read", http_error(503), effects="read", service="api")
    other = bench.tool("list", "items", effects="read", service="api")

    with bench.layer.run() as run:
        call(run, "read")
    with bench.layer.run() as run:
        assert not call(run, "list").ok

    assert [] == other.calls


def test_probe_after_the_cooldown_closes_the_breaker(call):
    """When the service is well again, calls go through."""
    bench = Bench(steady(ROW_OF_TWO))
    bench.tool("search", http_error(503), http_error(503), "hit", effects="read")
    with bench.layer.run() as run:
        call(run, "search")
    bench.clock.advance(30)

    with bench.layer.run() as run:
        assert "hit" == call(run, "search").value

    assert ["open", "half_open", "closed"] == [move.to_state for move in bench.of(BreakerMoved)]


def test_application_errors_are_no_sickness(call):
    """A service that answers that something does not exist is well."""
    bench = Bench(steady(ROW_OF_TWO))
    bench.tool("get", http_error(404), effects="read")

    for _ in range(5):
        with bench.layer.run() as run:
            call(run, "get")

    assert [] == bench.of(BreakerMoved)


def test_budget_limits_retries_over_all_runs(call):
    """When the bucket is empty, failures fail at once; another service is not affected."""
    policy = Policy(budget=BudgetPolicy(capacity=28, floor=0), services={"rich": ServicePolicy(budget=BudgetPolicy())})
    bench = Bench(steady(policy))
    bench.tool("poor", http_error(503), effects="read")
    bench.tool("other", http_error(503), effects="read", service="rich")

    attempts = []
    for tool in ("poor", "poor", "other"):
        with bench.layer.run() as run:
            attempts.append(call(run, tool).attempts)

    assert [3, 1, 3] == attempts
    assert ["poor"] == [spent.service for spent in bench.of(BudgetExhausted)]


def test_cancelled_wait_gives_its_place_back():
    """A retry that is cancelled in mid-wait no longer counts as under way."""
    waiting = asyncio.Event()

    async def asleep(_seconds):
        waiting.set()
        await asyncio.Event().wait()

    bench = Bench(steady(Policy(budget=BudgetPolicy(capacity=0, floor=1))), asleep=asleep)
    bench.tool("search", http_error(503, {"retry-after": "60"}), effects="read")

    async def main():
        async with bench.layer.run() as run:
            task = asyncio.create_task(run.acall("search"))
            await waiting.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return bench.layer.services.get("search").budget.take(throttled=False)

    assert asyncio.run(main()) is not None


def test_after_a_rate_limit_concurrent_calls_wait_together():
    """One call meets the 429; the others wait for it to pass instead of each finding out."""
    bench = Bench()
    limited = True
    met = []

    @bench.layer.tool(effects="read", service="api")
    async def ask(n: int) -> int:
        nonlocal limited
        if limited:
            limited = False
            met.append(n)
            raise http_error(429, {"retry-after": "5"})
        assert bench.clock.now >= 1_005.0, "nobody asks before the limit has passed"
        return n

    async def main():
        async with bench.layer.run() as run:
            return await asyncio.gather(*(run.acall("ask", {"n": n}) for n in range(20)))

    outcomes = asyncio.run(main())

    assert list(range(20)) == [outcome.value for outcome in outcomes]
    assert [0] == met
    assert {"retry_after", "pacing"} == {retry.basis for retry in bench.of(RetryScheduled)}


def test_background_call_does_not_wait_for_pacing(call):
    """While others wait for a limit to pass, a call that nobody waits for fails at once."""
    bench = Bench(steady(max_attempts=1))
    bench.layer.services.get("api").pacer.limited(bench.clock.now, 30.0)
    tool = bench.tool("score", 1, effects="read", service="api")

    with bench.layer.run(source="scoring") as run:
        outcome = call(run, "score")

    assert ([], "rate_limit.paced") == (tool.calls, outcome.envelope.error.code)
    assert [] == bench.clock.slept


def test_pacing_that_does_not_fit_the_deadline_fails_now(call):
    """Nobody sleeps through a limit that ends after the deadline."""
    bench = Bench(steady(total_timeout=10))
    bench.layer.services.get("api").pacer.limited(bench.clock.now, 30.0)
    bench.tool("ask", 1, effects="read", service="api")

    with bench.layer.run() as run:
        assert 0 == call(run, "ask").attempts

    assert [] == bench.clock.slept


def test_a_cancelled_probe_leaves_its_place_to_the_next(call):
    """An interrupt says nothing about the service: the breaker stays half-open, and lets another probe pass."""
    bench = Bench(steady(ROW_OF_TWO, max_attempts=1))
    tool = bench.tool("search", http_error(503), http_error(503), KeyboardInterrupt(), "well", effects="read")
    for _ in range(2):
        with bench.layer.run() as run:
            call(run, "search")
    bench.clock.advance(30)
    with bench.layer.run() as run, pytest.raises(KeyboardInterrupt):
        call(run, "search")

    with bench.layer.run() as run:
        assert call(run, "search").ok
    assert 4 == len(tool.calls)
