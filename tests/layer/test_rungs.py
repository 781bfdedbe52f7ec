"""Falling back, recalling, degrading, surfacing, stopping."""

import pytest

from otel_toolerrors.policy import BreakerPolicy, Fallback, Policy, RunPolicy, parse_policy
from otel_toolerrors.surface import RecoveryExhausted, ToolRunTerminated
from otel_toolerrors.testing import Bench, steady
from otel_toolerrors.vocabulary import (
    BreakerMoved,
    CallCancelled,
    ErrorSurfaced,
    FallbackUsed,
    FaultClassified,
    PacketIssued,
    RunStopped,
    ToolDegraded,
)
from tests.layer.errors import http_error

SURFACE_ALL = Policy(run=RunPolicy(stop_on=frozenset()))


def test_fallback_stands_in_and_its_loss_is_told(call):
    """When retries are over another tool answers, with adapted arguments, and the model hears what is lost."""
    policy = parse_policy(
        '[retry]\njitter = "none"\n'
        "[[tools.google.fallback]]\n"
        'tool = "bing"\narguments = {q = "query"}\ndrop = ["safe"]\nquality = "no ranking"\n'
    )
    bench = Bench(policy)
    bench.tool("google", ConnectionResetError(), effects="read")
    bing = bench.tool("bing", ["hit"], effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "google", {"q": "x", "safe": True})

    assert ("ok", ["hit"], "bing") == (outcome.kind, outcome.value, outcome.fallback)
    assert [{"query": "x"}] == bing.calls
    assert '[from bing: no ranking]\n["hit"]' == outcome.text
    assert ("google",) * 3 + ("bing",) == outcome.tried
    assert [("bing", True)] == [(used.fallback, used.succeeded) for used in bench.of(FallbackUsed)]


def test_fallbacks_are_tried_in_order_until_one_works(call):
    """A fallback that fails is recorded, and the next one is tried."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("a", TimeoutError(), effects="read", fallback=("gone", "b", "c"))
    bench.tool("b", TimeoutError(), effects="read")
    bench.tool("c", "third", effects="read")

    with bench.layer.run() as run:
        assert "third" == call(run, "a").value

    assert [("b", False), ("c", True)] == [(used.fallback, used.succeeded) for used in bench.of(FallbackUsed)]


def test_nothing_stands_in_for_a_write_that_may_have_happened(call):
    """After an unknown effect no other tool does the same again."""
    bench = Bench()
    bench.tool("pay", TimeoutError("timed out"), effects="write", fallback=("pay_elsewhere",))
    other = bench.tool("pay_elsewhere", "paid", effects="write")

    with bench.layer.run() as run:
        outcome = call(run, "pay")

    assert [] == other.calls
    assert "stopped" == outcome.kind


def test_a_fallback_write_that_may_have_happened_ends_the_chain(call):
    """The primary was refused, its stand-in timed out: the model hears of the second, and nothing else is tried."""
    bench = Bench(steady(SURFACE_ALL, max_attempts=1))
    bench.tool("pay", ConnectionRefusedError(111, "refused"), effects="write", fallback=("wire", "cash"))
    bench.tool("wire", TimeoutError("timed out"), effects="write")
    cash = bench.tool("cash", "paid", effects="write")

    with bench.layer.run() as run:
        outcome = call(run, "pay")

    assert [] == cash.calls
    assert "unknown" == outcome.envelope.error.side_effects


@pytest.mark.parametrize("error", [ValueError("bad"), FileNotFoundError(2, "none"), PermissionError(13, "denied")])
def test_no_fallback_for_what_the_model_or_a_person_must_answer(call, error):
    """A wrong argument, a missing thing and a denied access are answers: no other tool is asked behind the back."""
    bench = Bench()
    bench.tool("a", error, effects="read", fallback=("b",))
    other = bench.tool("b", "fine", effects="read")

    with bench.layer.run() as run:
        call(run, "a")

    assert [] == other.calls


def test_cached_read_stands_in_and_says_its_age(call):
    """The last good result of the same read answers while it is fresh enough."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("rate", {"eur": 1.1}, TimeoutError(), effects="read", cache_ttl=60.0)

    with bench.layer.run() as run:
        call(run, "rate", {"of": "usd"})
        bench.clock.advance(40)
        stale = call(run, "rate", {"of": "usd"})
        other = call(run, "rate", {"of": "chf"})

    assert ("ok", {"eur": 1.1}, "cache", 40.0) == (stale.kind, stale.value, stale.fallback, stale.age)
    assert stale.text.startswith("[cached 40 s ago")
    assert "stopped" == other.kind


def test_cache_entry_that_is_too_old_is_not_used(call):
    """After its time a cached result is no answer."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("rate", 1, TimeoutError(), effects="read", cache_ttl=60.0)

    with bench.layer.run() as run:
        call(run, "rate")
        bench.clock.advance(61)
        assert not call(run, "rate").ok


def test_writes_are_never_cached(call):
    """A cache time on a write is ignored."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("pay", "paid", ConnectionRefusedError(111, "refused"), effects="write", cache_ttl=60.0)

    with bench.layer.run() as run:
        call(run, "pay")
        assert not call(run, "pay").ok


def test_optional_tool_is_given_up_and_the_model_told_once(call):
    """An optional tool leaves the list; the run goes on."""
    bench = Bench(steady(max_attempts=1))
    weather = bench.tool("weather", TimeoutError(), effects="read", optional=True)
    bench.tool("mail", "sent")

    with bench.layer.run() as run:
        first, second = call(run, "weather"), call(run, "weather")
        names = [spec["name"] for spec in run.tools()]

    assert ["degraded", "degraded"] == [first.kind, second.kind]
    assert "weather is not available for the rest of this run. Go on without it." == first.text
    assert "weather is not available." == second.text
    assert ["mail"] == names
    assert run.stopped is None
    assert 1 == len(bench.of(ToolDegraded))
    assert 1 == len(weather.calls), "a tool that was given up is not called again"


def test_degraded_tool_is_back_in_the_next_run(call):
    """What a run gives up, only that run gives up."""
    bench = Bench(steady(max_attempts=1))
    bench.tool("weather", TimeoutError(), "sun", effects="read", optional=True)

    with bench.layer.run() as run:
        call(run, "weather")
    with bench.layer.run() as run:
        assert "sun" == call(run, "weather").value


def test_validation_error_is_surfaced_with_a_suggestion(call):
    """What the model can fix it is shown, with one static hint, and the run goes on."""
    bench = Bench()
    bench.tool("plan", ValueError("date must be ISO 8601"), effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "plan", call_id="toolu_1")

    assert ("surfaced", "toolu_1", True) == (outcome.kind, outcome.call_id, outcome.is_error)
    assert "date must be ISO 8601" in outcome.text
    assert "Suggestions:" in outcome.text
    assert run.stopped is None
    surfaced = bench.of(ErrorSurfaced)[0]
    assert (1, "plan") == (surfaced.failures, surfaced.offered_tools)
    assert 0 < surfaced.injected_tokens < surfaced.tokens


@pytest.mark.parametrize(
    ("error", "reason"),
    [(PermissionError(13, "denied"), "permission"), (http_error(403), "permission"), (TimeoutError(), "exhausted")],
)
def test_terminal_faults_stop_the_run_with_a_fixed_message(call, error, reason):
    """Denied access and exhausted retries stop the run in code; later calls answer that they were not run."""
    bench = Bench()
    bench.tool("calendar", error, effects="read")
    other = bench.tool("mail", "sent")

    with bench.layer.run() as run:
        outcome = call(run, "calendar")
        later = call(run, "mail", call_id="toolu_2")

    assert ("stopped", reason) == (outcome.kind, outcome.stop)
    assert reason == run.stopped.reason
    assert run.stopped.message == outcome.stop_message
    assert ("cancelled", False, "toolu_2") == (later.kind, later.is_error, later.call_id)
    assert [] == other.calls
    assert [reason] == [stop.reason for stop in bench.of(RunStopped)]
    assert outcome.packet is not None
    assert 1 == len(bench.of(PacketIssued))


def test_policy_can_surface_instead_of_stopping(call):
    """With an empty stop list the model is shown what would have ended the run."""
    bench = Bench(steady(SURFACE_ALL))
    bench.tool("calendar", PermissionError(13, "denied"), effects="read")

    with bench.layer.run() as run:
        assert "surfaced" == call(run, "calendar").kind
    assert run.stopped is None


def test_run_breaker_trips_on_the_third_failure_in_a_row(call):
    """One tool failing three times in a row stops the run, whatever the model wants."""
    bench = Bench()
    bench.tool("read", FileNotFoundError(2, "no such file"), effects="read")

    with bench.layer.run() as run:
        kinds = [call(run, "read", {"path": f"/{n}"}).kind for n in range(4)]

    assert ["surfaced", "surfaced", "stopped", "cancelled"] == kinds
    assert "run_breaker" == run.stopped.reason
    assert [("run", "closed", "open", 3)] == [
        (move.breaker, move.from_state, move.to_state, move.failures) for move in bench.of(BreakerMoved)
    ]


def test_run_breaker_resets_on_success(call):
    """Stumbling is not being stuck: a success clears the tool's count."""
    bench = Bench()
    missing = FileNotFoundError(2, "no such file")
    bench.tool("read", missing, missing, "text", missing, missing, "text", effects="read")

    with bench.layer.run() as run:
        kinds = [call(run, "read").kind for _ in range(6)]

    assert ["surfaced", "surfaced", "ok"] * 2 == kinds


def test_run_breaker_counts_tools_apart_and_runs_apart(call):
    """Two failures here and two there are no loop, and a new run begins at zero."""
    bench = Bench()
    for name in ("a", "b"):
        bench.tool(name, ValueError("bad"), effects="read")

    for _ in range(2):
        with bench.layer.run() as run:
            assert {"surfaced"} == {call(run, name).kind for name in "abab"}


@pytest.mark.parametrize(("limits", "reason"), [({"corrections_in_a_row": 4}, 4), ({"corrections": 4}, 4)])
def test_too_many_corrections_stop_the_run(call, limits, reason):
    """Failures over all tools are limited too, in a row and in the whole run."""
    bench = Bench(Policy(run=RunPolicy(**limits)))
    for name in "abcdef":
        bench.tool(name, ValueError("bad"), effects="read")

    with bench.layer.run() as run:
        kinds = [call(run, name).kind for name in "abcdef"]

    assert reason - 1 == kinds.index("stopped")
    assert "corrections" == run.stopped.reason


def test_unknown_tool_gets_an_answer_with_near_names(call):
    """A name the model made up is answered, counted, and costs no run."""
    bench = Bench()
    bench.tool("search_web", "hit", effects="read")

    with bench.layer.run() as run:
        outcome = call(run, "search_wep", {"q": "x"}, call_id="c1")

    assert ("surfaced", "tool.unknown") == (outcome.kind, outcome.envelope.error.code)
    assert "did you mean search_web?" in outcome.text
    assert 0 == outcome.attempts


def test_in_band_error_is_an_error_only_where_the_tool_says_so(call):
    """A value that looks like an error is one only for a tool that declares it."""
    bench = Bench()
    answer = {"error": {"code": 404, "message": "not found"}}
    bench.tool("plain", answer, effects="read")
    bench.tool("mcp", answer, effects="read", in_band=True)

    with bench.layer.run() as run:
        assert answer == call(run, "plain").value
        assert "surfaced" == call(run, "mcp").kind


def test_unwrap_raises_for_those_who_like_exceptions(call):
    """The value, or an exception that tells whether the run goes on."""
    bench = Bench()
    bench.tool("good", 5, effects="read")
    bench.tool("bad", ValueError("wrong unit"), effects="read")
    bench.tool("denied", PermissionError(13, "denied"), effects="read")

    with bench.layer.run() as run:
        assert 5 == call(run, "good").unwrap()
        with pytest.raises(RecoveryExhausted, match=r"bad failed after 1 attempt\(s\) \(bad\): .*wrong unit"):
            call(run, "bad").unwrap()
        with pytest.raises(ToolRunTerminated, match="access was denied"):
            call(run, "denied").unwrap()


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_control_flow_passes_through(interrupt):
    """An interrupt is never an error of the tool; the trace of the call still ends."""
    bench = Bench()
    bench.tool("work", interrupt(), effects="write")

    with bench.layer.run() as run, pytest.raises(interrupt):
        run.call("work")

    assert [] == bench.of(FaultClassified)
    assert [(interrupt.__name__, "unknown")] == [(c.reason, c.side_effects) for c in bench.of(CallCancelled)]


def test_a_sync_call_of_an_async_tool_is_refused_at_once():
    """The mistake is named, and nothing is left un-awaited."""
    bench = Bench()

    @bench.layer.tool(effects="read")
    async def look() -> int:
        return 1

    with bench.layer.run() as run, pytest.raises(TypeError, match=r"use `await run\.acall"):
        run.call("look")


def test_a_fallback_whose_own_service_rests_is_passed_over(call):
    """Each stand-in is asked only if its own breaker lets it; the next one may still answer, with its own quality."""
    policy = steady(Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=1)), max_attempts=1)
    bench = Bench(policy)
    ways = (Fallback(tool="near", quality="near"), Fallback(tool="far", quality="no ranking"))
    bench.tool("search", TimeoutError("slow"), effects="read", fallback=ways)
    near = bench.tool("near", TimeoutError("slow"), effects="read", service="near-api")
    bench.tool("far", "hit", effects="read")
    with bench.layer.run() as run:
        call(run, "near")
    with bench.layer.run() as run:
        outcome = call(run, "search")
    assert ("ok", "far", 1) == (outcome.kind, outcome.fallback, len(near.calls))
    assert [("far", True, "no ranking")] == [(e.fallback, e.succeeded, e.quality) for e in bench.of(FallbackUsed)]
