"""Observing, reloading, hedging, timing out."""

import asyncio
import logging
import threading

import httpx
import pytest

from otel_toolerrors.engine import Rejection
from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.policy import BreakerPolicy, Declaration, Fallback, Policy, PolicyError, RetryPolicy, SurfacePolicy
from otel_toolerrors.surface import Catalog, Suggestion
from otel_toolerrors.testing import Bench, steady
from otel_toolerrors.vocabulary import FaultClassified, HedgeStarted, RetryScheduled, RunStopped
from tests.layer.errors import http_error

# Observe mode


@pytest.mark.parametrize(
    ("error", "effects", "would"),
    [
        (ConnectionResetError(), "read", "retry"),
        (ConnectionResetError(), "write", "stop"),
        (PermissionError(13, "denied"), "read", "stop"),
        (ValueError("bad"), "read", "surface"),
        (http_error(503), "idempotent", "retry"),
    ],
)
def test_observing_changes_nothing_and_says_what_it_would_do(call, error, effects, would):
    """One attempt, the original error at hand, the fault recorded with the decision that was not taken."""
    bench = Bench(Policy(mode="observe"), permission=lambda _tool, _arguments: "denied if it were asked")
    tool = bench.tool("act", error, effects=effects)

    with bench.layer.run() as run:
        outcomes = [call(run, "act", {"n": n}, call_id=str(n)) for n in range(5)]

    assert 5 == len(tool.calls)
    assert all(outcome.error is error for outcome in outcomes)
    assert run.stopped is None
    assert [would] * 5 == [fault.would for fault in bench.of(FaultClassified)]
    assert [] == bench.of(RetryScheduled) + bench.of(RunStopped)


def test_observing_gives_good_values_back(call):
    """What works, works."""
    bench = Bench(Policy(mode="observe"))
    value = object()
    bench.tool("act", value)
    with bench.layer.run() as run:
        assert call(run, "act").value is value


def test_acting_mode_foretells_nothing(call):
    """The attribute is for observers only."""
    bench = Bench()
    bench.tool("act", ValueError("bad"), effects="read")
    with bench.layer.run() as run:
        call(run, "act")
    assert [None] == [fault.would for fault in bench.of(FaultClassified)]


# Reloading


def written(path, text):
    """Write a policy file that is noticed as changed, whatever the clock's grain."""
    path.write_text(text + "\n# " + "x" * len(text), encoding="utf-8")
    return path


def test_a_changed_policy_file_holds_for_the_next_run(tmp_path, call):
    """Runs under way keep their policy; the next one has the new one."""
    path = written(tmp_path / "policy.toml", "[retry]\njitter = 'none'\nmax_attempts = 2\n")
    bench = Bench()
    layer = RecoveryLayer(path, clock=bench.clock, sleep=bench.clock.sleep, asleep=bench.clock.asleep)
    layer.tool(name="act", effects="read")(_reset)
    with layer.run() as run:
        written(path, "[retry]\njitter = 'none'\nmax_attempts = 4\n[run]\nstop_on = []\n")
        assert 2 == call(run, "act").attempts
    with layer.run() as run:
        assert 4 == call(run, "act").attempts


def _reset():
    raise ConnectionResetError


@pytest.mark.parametrize("garbage", ["[retry", "[retry]\nmax_attempts = 0\n", "\x00\x01", ""])
def test_garbage_in_the_policy_file_is_reported_and_ignored(tmp_path, caplog, garbage):
    """A file that cannot be used never takes effect; an empty one is a valid policy."""
    path = written(tmp_path / "policy.toml", "[retry]\nmax_attempts = 2\n")
    layer = RecoveryLayer(path)
    path.write_text(garbage, encoding="utf-8")
    with caplog.at_level(logging.ERROR, "otel_toolerrors"):
        layer.run().close()
    if garbage:
        assert 2 == layer.policy.retry.max_attempts
        assert "the policy stays as it was" in caplog.text
        assert str(path) in caplog.text
    else:
        assert Policy() == layer.policy


def test_a_policy_file_that_is_removed_stays_in_force(tmp_path):
    """Gone is not empty."""
    path = written(tmp_path / "policy.toml", "[retry]\nmax_attempts = 2\n")
    layer = RecoveryLayer(path)
    path.unlink()
    layer.run().close()
    assert 2 == layer.policy.retry.max_attempts


def test_a_bad_policy_file_at_the_start_is_an_error(tmp_path):
    """Nobody runs under a policy that was not read."""
    with pytest.raises(PolicyError):
        RecoveryLayer(written(tmp_path / "policy.toml", "[retry]\nmax_atempts = 2\n"))


def test_reloading_keeps_what_breakers_know(call):
    """An open breaker stays open under the new policy."""
    bench = Bench(steady(Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=1))))
    bench.tool("act", http_error(503), effects="read")
    with bench.layer.run() as run:
        call(run, "act")
    bench.layer.reload(Policy())
    breaker = bench.layer.services.get("act").breaker
    assert isinstance(breaker.admit(bench.clock.now, lambda _move: None), Rejection)


def test_a_run_under_way_keeps_its_policy(call):
    """Also for a tool that it calls for the first time after the reload: its span names the policy it began under."""
    bench = Bench(steady(Policy(run={"stop_on": []}), max_attempts=1))
    for name in ("known", "new"):
        bench.tool(name, http_error(503), http_error(503), "found", effects="read")
    with bench.layer.run() as run:
        assert 1 == call(run, "known").attempts
        bench.layer.reload(steady(max_attempts=3))
        assert (1, 1) == (call(run, "known").attempts, call(run, "new").attempts)
    with bench.layer.run() as run:
        assert 2 == call(run, "new").attempts


def test_a_run_under_way_keeps_its_policy_for_what_stands_in_and_for_models(call):
    """There is one policy to a run, whoever is called."""
    run_on = {"run": {"stop_on": []}}
    bench = Bench(steady(Policy(**run_on, tools={"spare": {"service": "old"}}), max_attempts=1))
    bench.tool("act", http_error(503), effects="read", fallback=("spare",))
    bench.tool("spare", "found", effects="read")
    asked = []

    def ask(**_: object) -> str:
        asked.append(1)
        raise http_error(503)

    with bench.layer.run() as run:
        bench.layer.reload(steady(Policy(**run_on, tools={"spare": {"service": "new"}}), max_attempts=3))
        assert "spare" == call(run, "act").fallback
        with pytest.raises(httpx.HTTPStatusError):
            run.model(ask, "large").call(max_tokens=10)
    assert {"old"} == {"old", "new"} & set(bench.layer.services._known)
    assert [1] == asked


# Timeouts and hedges


def test_sync_attempt_that_takes_too_long_may_still_commit():
    """The thread runs on: a write's effect is unknown, and it is not repeated."""
    release, wrote = threading.Event(), threading.Event()
    layer = RecoveryLayer(Policy(retry=RetryPolicy(attempt_timeout=0.01)))

    @layer.tool
    def write() -> None:
        release.wait(10)
        wrote.set()

    with layer.run() as run:
        outcome = run.call("write")
    assert ("transient", "unknown", 1) == (outcome.fault.category, outcome.fault.side_effects, outcome.attempts)
    release.set()
    assert wrote.wait(10)


def test_async_attempt_that_takes_too_long_is_cancelled():
    """A read is cut off and tried again."""
    cancelled = []
    layer = RecoveryLayer(Policy(retry=RetryPolicy(attempt_timeout=0.01, base_delay=0, max_attempts=2)))

    @layer.tool(effects="read")
    async def read() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    async def main():
        async with layer.run() as run:
            return await run.acall("read")

    outcome = asyncio.run(main())
    assert (2, [1, 1]) == (outcome.attempts, cancelled)
    assert "timeout" in outcome.fault.code


def hedged(effects, *behaviours):
    """Call an async tool whose n-th try behaves as told, under a policy that hedges after a second."""
    bench = Bench(Policy(retry=RetryPolicy(hedge_after=1.0, max_attempts=1)))
    began, ended = [], []

    @bench.layer.tool(effects=effects)
    async def read() -> str:
        number = len(began)
        began.append(number)
        try:
            return await behaviours[number](bench)
        finally:
            ended.append(number)

    async def main():
        async with bench.layer.run() as run:
            return await run.acall("read")

    return asyncio.run(main()), began, ended, bench


async def _hangs(_bench):
    await asyncio.Event().wait()


async def _answers(_bench):
    return "answer"


async def _fails(bench):
    await bench.clock.asleep(5)
    raise ConnectionResetError


def test_a_slow_read_gets_a_second_try_beside_it():
    """Whoever answers first wins, and the other is cancelled."""
    outcome, began, ended, bench = hedged("read", _hangs, _answers)
    assert ("answer", 1) == (outcome.value, outcome.attempts)
    assert sorted(began) == sorted(ended) == [0, 1]
    assert [1.0] == [hedge.after for hedge in bench.of(HedgeStarted)]


def test_a_quick_read_is_not_hedged():
    """No second try where none is needed."""
    outcome, began, _, bench = hedged("read", _answers)
    assert "answer" == outcome.value
    assert [0] == began
    assert [] == bench.of(HedgeStarted)


def test_when_both_fail_the_first_failure_counts():
    """One attempt, one fault."""
    outcome, began, _, bench = hedged("read", _fails, _fails)
    assert [0, 1] == began
    assert 1 == len(bench.of(FaultClassified))
    assert "connection.reset" == outcome.fault.code


def test_writes_are_never_hedged():
    """Doing it twice at once is doing it twice."""
    _, began, _, bench = hedged("write", _fails)
    assert [0] == began
    assert [] == bench.of(HedgeStarted)


# Our own defects


def test_a_classifier_that_fails_is_an_unknown_fault(call, monkeypatch, caplog):
    """A defect of ours never reaches the agent: the error is surfaced, and nothing is repeated."""

    def broken(*_args, **_kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr("otel_toolerrors.layer.hands.classify", broken)
    monkeypatch.setattr("otel_toolerrors.layer.hands.classify_result", broken)
    bench = Bench()
    tool = bench.tool("act", ConnectionResetError("reset"), effects="read")
    bench.tool("look", {"error": "?"}, effects="read", in_band=True)
    with bench.layer.run() as run:
        outcome = call(run, "act")
        assert {"error": "?"} == call(run, "look").value
    assert ("surfaced", "unclassified", 1) == (outcome.kind, outcome.envelope.error.code, len(tool.calls))
    assert "could not be classified" in caplog.text


# Registering


def test_build_tool_is_fail_closed():
    """Code that makes tools gets the strictest defaults unless it declares otherwise."""
    layer = RecoveryLayer()
    tool = layer.build_tool(lambda: None, name="act", description="Acts.")
    assert Declaration() == tool.declared
    assert "Acts." == tool.spec()["description"]


def test_a_name_can_be_taken_once():
    """The second tool of a name is a mistake, and the message says what to do."""
    layer = RecoveryLayer()
    layer.build_tool(lambda: None, name="act")
    with pytest.raises(ValueError, match="'act' is registered already; give this one another name="):
        layer.build_tool(lambda: None, name="act")


def test_arguments_that_json_cannot_describe_are_named():
    """The tool and the argument's type are in the error."""

    class Opaque:
        pass

    def act(thing: Opaque) -> None:
        """Take a thing."""

    layer = RecoveryLayer()
    layer.build_tool(act)
    with pytest.raises(TypeError, match="tool 'act': its arguments cannot be described"):
        layer.run().tools()


def test_stale_suggestions_are_warned_of_once(caplog):
    """At the start of a run the catalog is held against the tool list."""
    hint = Suggestion(id="use-find", text="Use find.", tools=("find",))
    layer = RecoveryLayer(catalog=Catalog(version="1", suggestion=(hint,)))
    with caplog.at_level(logging.WARNING, "otel_toolerrors"):
        layer.run().close()
        layer.run().close()
    assert ["suggestion use-find names tools that no run offers: find"] == [r.message for r in caplog.records]


def test_stale_suggestions_can_be_shown(call):
    """For those who know better: the policy may show hints whatever the tool list says."""
    hint = Suggestion(id="use-find", text="Use find.", category="validation", tools=("find",))
    policy = Policy(surface=SurfacePolicy(stale="show"))
    bench = Bench(policy, catalog=Catalog(version="1", suggestion=(hint,)))
    bench.tool("act", ValueError("bad"), effects="read")
    with bench.layer.run() as run:
        assert "Use find." in call(run, "act").text


def test_fallbacks_may_be_declared_with_their_arguments(call):
    """In code as in the policy file."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("a", TimeoutError(), effects="read", fallback=(Fallback(tool="b", arguments={"q": "query"}),))
    other = bench.tool("b", "hit", effects="read")
    with bench.layer.run() as run:
        call(run, "a", {"q": "x"})
    assert [{"query": "x"}] == other.calls


@pytest.mark.parametrize(
    ("effects", "key", "max_attempts", "would"),
    [("write", None, 3, "stop"), ("write", "k1", 3, "retry"), ("read", None, 2, "retry"), ("read", None, 1, "stop")],
)
def test_foresight_knows_the_key_and_the_attempts_that_are_left(call, effects, key, max_attempts, would):
    """What an observing layer says it would have done is what it would have done."""
    policy = steady(max_attempts=max_attempts).model_copy(update={"mode": "observe"})
    bench = Bench(policy)
    bench.tool("send", TimeoutError("timed out"), effects=effects)
    with bench.layer.run() as run:
        call(run, "send", key=key)
    assert [would] == [event.would for event in bench.of(FaultClassified)]
