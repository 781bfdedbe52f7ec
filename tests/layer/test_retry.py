import pytest

from otel_toolerrors.faults import Rule
from otel_toolerrors.policy import Policy, RetryPolicy, RunPolicy, parse_policy
from otel_toolerrors.testing import Bench, steady
from otel_toolerrors.vocabulary import FaultClassified, RetryRefused, RetryScheduled, WaitHeartbeat
from tests.layer.errors import http_error


def test_flake_is_never_seen(call):
    """A reset of a read is retried in the harness, and the outcome is the value."""
    bench = Bench()
    tool = bench.tool("search", ConnectionResetError(), ConnectionResetError(), ["hit"], effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "search", {"q": "x"})

    assert ("ok", ["hit"], 3) == (outcome.kind, outcome.value, outcome.attempts)
    assert [{"q": "x"}] * 3 == tool.calls
    assert [0.5, 1.0] == bench.clock.slept
    assert "connection.reset" == outcome.fault.code


@pytest.mark.parametrize(
    ("effects", "error", "attempts", "refused"),
    [
        ("read", TimeoutError("read timed out"), 3, "attempts"),
        ("idempotent", TimeoutError("read timed out"), 3, "attempts"),
        ("write", TimeoutError("read timed out"), 1, "effects"),
        ("destructive", TimeoutError("read timed out"), 1, "effects"),
        ("write", ConnectionRefusedError(111, "refused"), 3, "attempts"),
        ("destructive", ConnectionRefusedError(111, "refused"), 3, "attempts"),
        ("read", FileNotFoundError(2, "no such file"), 1, "not_retryable"),
        ("read", ValueError("bad"), 1, "not_retryable"),
        ("read", PermissionError(13, "denied"), 1, "not_retryable"),
        ("read", http_error(503, {"x-should-retry": "false"}), 1, "server"),
        ("read", http_error(503), 3, "attempts"),
    ],
)
def test_retry_follows_declared_effects(call, effects, error, attempts, refused):
    """What is repeated depends on the fault, on what the tool declares and on what may have happened."""
    bench = Bench()
    tool = bench.tool("act", error, effects=effects)

    with bench.layer.run() as run:
        outcome = call(run, "act")

    assert attempts == outcome.attempts == len(tool.calls)
    assert refused == bench.of(RetryRefused)[-1].reason
    assert not outcome.ok


def test_undeclared_tool_is_a_write(call):
    """A tool that declares nothing gets no retry when its effect is unknown."""
    bench = Bench()
    calls = []

    @bench.layer.tool
    def pay(amount: int) -> None:
        calls.append(amount)
        raise TimeoutError("timed out")

    with bench.layer.run() as run:
        outcome = call(run, "pay", {"amount": 5})

    assert [5] == calls
    assert ("stopped", "unknown") == (outcome.kind, outcome.envelope.error.side_effects)


def test_idempotency_key_allows_retry_and_stays_the_same(call):
    """A tool that takes a key is retried after an unknown effect, with one key, model-driven repeats included."""
    bench = Bench(steady(Policy(run=RunPolicy(stop_on=frozenset()))))
    keys = []
    broken = True

    @bench.layer.tool
    def pay(amount: int, idempotency_key: str) -> str:  # noqa: ARG001 - part of the call
        keys.append(idempotency_key)
        if broken:
            raise TimeoutError("timed out")
        return "paid"

    with bench.layer.run() as run:
        first = call(run, "pay", {"amount": 5})
        broken = False
        second = call(run, "pay", {"amount": 5})
        third = call(run, "pay", {"amount": 5})
        other = call(run, "pay", {"amount": 6})

    assert (3, "ok", "ok", "ok") == (first.attempts, second.kind, third.kind, other.kind)
    assert 1 == len(set(keys[:4]))
    assert 3 == len(set(keys)), "a repeat after success, and other arguments, are new operations"
    assert "idempotency_key" not in str(run.tools())


def test_committed_write_is_not_repeated_even_with_a_key(call):
    """What has certainly happened is not done again."""
    lost_answer = Rule(
        code="answer.lost", category="transient", passing=True, side_effects="committed", why="test", types=("OSError",)
    )
    bench = Bench(rules=(lost_answer,))
    tool = bench.tool("pay", OSError("the answer was lost"), effects="write")

    with bench.layer.run() as run:
        outcome = call(run, "pay", key="k-1")

    assert 1 == len(tool.calls)
    assert "committed" == outcome.envelope.error.side_effects
    assert "effects" == bench.of(RetryRefused)[-1].reason


def test_deadline_is_checked_before_sleeping(call):
    """A wait that does not fit the total budget is not begun."""
    bench = Bench(steady(total_timeout=1.2))
    bench.tool("search", ConnectionResetError(), effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "search")

    assert [0.5] == bench.clock.slept
    assert (2, "deadline", 1.0) == (outcome.attempts, *_last_refusal(bench))


def _last_refusal(bench):
    refusal = bench.of(RetryRefused)[-1]
    return refusal.reason, refusal.delay


@pytest.mark.parametrize(
    ("headers", "slept"),
    [
        ({"retry-after": "7"}, [7.0]),
        ({"retry-after-ms": "250"}, [0.25]),
        ({"retry-after": "-3"}, [0.5]),
        ({"retry-after": "soon"}, [0.5]),
        ({"retry-after": "inf"}, [0.5]),
    ],
)
def test_retry_after_is_honoured_when_it_makes_sense(call, headers, slept):
    """The server's wait replaces ours; nonsense is ignored."""
    bench = Bench()
    bench.tool("search", http_error(503, headers), "hit", effects="read")

    with bench.layer.run() as run:
        assert call(run, "search").ok

    assert slept == bench.clock.slept


def test_retry_after_that_does_not_fit_fails_now_and_says_so(call):
    """A wait of an hour is not slept; the outcome names it."""
    bench = Bench()
    bench.tool("search", http_error(429, {"retry-after": "3600"}), effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "search")

    assert [] == bench.clock.slept
    assert ("deadline", 3600.0) == _last_refusal(bench)
    assert 3600.0 == outcome.envelope.error.retry_after


def test_background_calls_fail_fast_on_capacity(call):
    """Nobody waits for a background call, so it does not add to an overload; other faults are still retried."""
    bench = Bench()
    bench.tool("title", http_error(529), effects="read", service="llm")
    bench.tool("score", ConnectionResetError(), "ok", effects="read")

    with bench.layer.run(source="title_generation") as run:
        assert 1 == call(run, "title").attempts
    with bench.layer.run(source="title_generation") as run:
        assert 2 == call(run, "score").attempts

    assert "source" == bench.of(RetryRefused)[0].reason


def test_subscription_limit_is_not_retried(call):
    """With a subscription a 429 is a window that does not pass within a turn."""
    bench = Bench(steady(Policy(run=RunPolicy(subscription=True))))
    bench.tool("ask", http_error(429, {"retry-after": "1"}), effects="read")

    with bench.layer.run() as run:
        call(run, "ask")

    assert "subscription" == bench.of(RetryRefused)[0].reason


def test_persistent_mode_waits_in_pieces_with_heartbeats(call):
    """Unattended, a long wait is cut into 30 s pieces, each with a heartbeat, and attempts are not counted."""
    bench = Bench(steady(persistent=True))
    bench.tool("build", *[http_error(503, {"retry-after": "70"})] * 5, "built", effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "build")

    assert ("ok", 6) == (outcome.kind, outcome.attempts)
    assert [30.0, 30.0, 10.0] * 5 == bench.clock.slept
    assert [(30.0, 40.0), (60.0, 10.0)] == [(beat.waited, beat.remaining) for beat in bench.of(WaitHeartbeat)[:2]]


def test_persistent_mode_gives_up_at_its_cap(call):
    """The six-hour cap ends the waiting."""
    bench = Bench(steady(persistent=True))
    bench.tool("build", http_error(503, {"retry-after": "7200"}), effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "build")

    assert ("stopped", 4) == (outcome.kind, outcome.attempts)
    assert 21_600 == pytest.approx(sum(bench.clock.slept))
    assert "deadline" == _last_refusal(bench)[0]


def test_stopping_the_run_ends_a_persistent_wait_at_the_next_piece(call):
    """A wait of hours can be aborted."""
    bench = Bench(steady(persistent=True))
    bench.tool("build", http_error(503, {"retry-after": "3600"}), effects="read")
    run = bench.layer.run()
    bench.layer._on_event = lambda event: run.stop() if isinstance(event, WaitHeartbeat) else None

    outcome = call(run, "build")

    assert [30.0] == bench.clock.slept
    assert ("stopped", "aborted") == (outcome.kind, run.stopped.reason)


def test_every_failed_attempt_is_classified_once(call):
    """Each failure leaves one fault, each repeat one schedule, each end one refusal."""
    bench = Bench()
    bench.tool("search", http_error(503), effects="read")

    with bench.layer.run() as run:
        call(run, "search")

    assert [1, 2, 3] == [fault.attempt for fault in bench.of(FaultClassified)]
    assert [1, 2] == [retry.attempt for retry in bench.of(RetryScheduled)]
    assert [3] == [refusal.attempt for refusal in bench.of(RetryRefused)]


def test_policy_file_overrides_one_tool(call):
    """A tool's own table wins over the general one, and over what the code declares."""
    policy = parse_policy(
        '[retry]\njitter = "none"\n[tools.search]\neffects = "write"\n[tools.other.retry]\nmax_attempts = 5'
    )
    bench = Bench(policy)
    bench.tool("search", TimeoutError(), effects="read")
    bench.tool("other", TimeoutError(), effects="read")

    with bench.layer.run() as run:
        assert 1 == call(run, "search").attempts
    with bench.layer.run() as run:
        assert 5 == call(run, "other").attempts


def test_source_policy_sits_between_the_general_and_the_tool(call):
    """[sources.X.retry] overrides [retry] for every call of that source."""
    policy = Policy.model_validate({"retry": {"jitter": "none"}, "sources": {"batch": {"retry": {"max_attempts": 2}}}})
    bench = Bench(policy)
    bench.tool("search", TimeoutError(), effects="read")

    with bench.layer.run(source="batch") as run:
        assert 2 == call(run, "search").attempts
    assert RetryPolicy().max_attempts == policy.retry_for("search", "main_agent").max_attempts
