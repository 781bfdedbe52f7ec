"""Model requests through the layer, both drivers, with the errors of a real SDK's shape."""

import asyncio

import pytest

from otel_toolerrors.layer.model import ModelUnavailable
from otel_toolerrors.policy import BreakerPolicy, Policy
from otel_toolerrors.testing import Bench, Script, steady
from otel_toolerrors.vocabulary import ContextOverflowed, ModelSwitched, RetryScheduled, WaitHeartbeat
from tests.layer.errors import http_error

OVERFLOW = "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"


def overflow(text=OVERFLOW):
    """The provider's 400."""
    return http_error(400, body={"type": "error", "error": {"type": "invalid_request_error", "message": text}})


@pytest.fixture(params=["sync", "async"])
def ask(request):
    """``ask(run, script, *models, **request)`` through one driver or the other."""

    def sync(run, script, *models, **asked):
        return run.model(script, *models).call(**asked)

    def asynchronous(run, script, *models, **asked):
        async def send(**arguments):
            return script(**arguments)

        return asyncio.run(run.model(send, *models).acall(**asked))

    return sync if request.param == "sync" else asynchronous


def test_passing_error_is_retried(ask):
    """A model request has what a tool has: backoff, Retry-After, budget, breaker."""
    bench = Bench()
    script = Script(http_error(503), http_error(429, {"retry-after": "4"}), "answer")
    with bench.layer.run() as run:
        assert "answer" == ask(run, script, "opus", max_tokens=100, messages=[])
    assert [0.5, 4.0] == bench.clock.slept
    assert [{"model": "opus", "max_tokens": 100, "messages": []}] * 3 == script.calls


def test_overflow_shrinks_the_output_to_what_fits(ask):
    """The counts in the message tell exactly how much is left."""
    bench = Bench()
    script = Script(overflow(), "answer")
    with bench.layer.run() as run:
        assert "answer" == ask(run, script, "opus", max_tokens=21_333)
    assert [21_333, 11_760] == [call["max_tokens"] for call in script.calls]
    event = bench.of(ContextOverflowed)[0]
    assert (188_240, 200_000, 11_760) == (event.input_tokens, event.limit, event.max_tokens)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("input length and `max_tokens` exceed context limit: 198000 + 21333 > 200000", 21_333),
        ("prompt is too long: 208310 tokens > 200000 maximum", 21_333),
        ("This model's maximum context length is 65536 tokens.", 21_333),
        (OVERFLOW, 5_000),
    ],
)
def test_overflow_that_leaves_too_little_fails(ask, text, asked):
    """Below the floor, without counts, or when the request should have fitted: the client's own error comes through."""
    bench = Bench()
    script = Script(overflow(text))
    with bench.layer.run() as run, pytest.raises(type(overflow())):
        ask(run, script, "opus", max_tokens=asked)
    assert 1 == len(script.calls)
    assert bench.of(ContextOverflowed)[0].max_tokens is None


def test_second_overflow_is_not_answered_with_a_third_size(ask):
    """The counts were exact: if they did not help, guessing will not."""
    bench = Bench()
    script = Script(overflow())
    with bench.layer.run() as run, pytest.raises(type(overflow())):
        ask(run, script, "opus", max_tokens=21_333)
    assert 2 == len(script.calls)


def test_repeated_overloads_switch_the_model_at_once(ask):
    """The third overload in a row is answered by another model, without a wait."""
    bench = Bench(steady(max_attempts=10))
    script = Script(*[http_error(529)] * 3, "answer")
    with bench.layer.run() as run:
        assert "answer" == ask(run, script, "opus", "sonnet")
    assert ["opus"] * 3 + ["sonnet"] == [call["model"] for call in script.calls]
    assert [0.5, 1.0] == bench.clock.slept
    assert [("opus", "sonnet", "overloaded")] == [
        (switch.from_model, switch.to_model, switch.reason) for switch in bench.of(ModelSwitched)
    ]


def test_the_switch_is_shared_and_goes_back(ask):
    """Other runs ask the other model too, until the first has had time to recover."""
    bench = Bench(steady(max_attempts=10))
    script = Script(*[http_error(529)] * 3, "answer")
    for wait in (0, 299, 1):
        bench.clock.advance(wait)
        with bench.layer.run() as run:
            ask(run, script, "opus", "sonnet")
    assert ["sonnet", "sonnet", "opus"] == [call["model"] for call in script.calls[3:]]
    assert ["overloaded", "recovered"] == [switch.reason for switch in bench.of(ModelSwitched)]


def test_an_answer_in_between_breaks_the_row(ask):
    """Only overloads in a row count."""
    bench = Bench(steady(max_attempts=10))
    script = Script(http_error(529), http_error(529), "one", http_error(529), http_error(529), "two")
    with bench.layer.run() as run:
        assert ["one", "two"] == [ask(run, script, "opus", "sonnet") for _ in range(2)]
    assert [] == bench.of(ModelSwitched)


def test_the_last_model_is_kept(ask):
    """With nobody left to ask, the attempts run out and the error comes through."""
    bench = Bench(steady(max_attempts=4))
    script = Script(http_error(529))
    with bench.layer.run() as run, pytest.raises(type(http_error(529))):
        ask(run, script, "opus")
    assert 4 == len(script.calls)


def test_breaker_and_model_fallback_are_orthogonal(ask):
    """An open breaker rejects whichever model is meant."""
    policy = Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=2))
    bench = Bench(steady(policy, max_attempts=2))
    script = Script(http_error(500))
    with bench.layer.run() as run:
        with pytest.raises(type(http_error(500))):
            ask(run, script, "opus", "sonnet")
        with pytest.raises(ModelUnavailable, match="model is not answering"):
            ask(run, script, "opus", "sonnet")
    assert 2 == len(script.calls)


def test_unattended_request_waits_with_heartbeats(ask):
    """Persistent retry holds for model requests as well."""
    bench = Bench(steady(persistent=True))
    script = Script(http_error(529, {"retry-after": "90"}), "answer")
    with bench.layer.run() as run:
        assert "answer" == ask(run, script, "opus")
    assert 2 == len(bench.of(WaitHeartbeat))


def test_background_request_fails_fast(ask):
    """Nobody waits for a title: no retry on overload."""
    bench = Bench()
    script = Script(http_error(529))
    with bench.layer.run(source="title") as run, pytest.raises(type(http_error(529))):
        ask(run, script, "opus", "sonnet")
    assert 1 == len(script.calls)
    assert [] == bench.of(RetryScheduled)


def test_failed_requests_do_not_stop_the_run(ask):
    """The caller decides what a failed request means."""
    bench = Bench(steady(max_attempts=1))
    script = Script(http_error(500))
    with bench.layer.run() as run:
        for _ in range(5):
            with pytest.raises(type(http_error(500))):
                ask(run, script, "opus")
        assert run.stopped is None


def test_a_stopped_run_asks_no_model(ask):
    """After a stop no request is sent."""
    bench = Bench()
    script = Script("answer")
    with bench.layer.run() as run:
        run.stop()
        with pytest.raises(ModelUnavailable, match="the run has stopped"):
            ask(run, script, "opus")
    assert [] == script.calls


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_interrupts_pass(interrupt):
    """Control flow is sacred here too."""
    bench = Bench()
    with bench.layer.run() as run, pytest.raises(interrupt):
        run.model(Script(interrupt()), "opus").call()
