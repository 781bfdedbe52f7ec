"""The scenarios: what every adapter must do, in terms of no framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_toolerrors import Policy
from otel_toolerrors.policy import BreakerPolicy
from otel_toolerrors.surface.messages import STOP_MESSAGES
from otel_toolerrors.testing import steady
from otel_toolerrors.vocabulary import FaultClassified
from tests.integrations.conformance.stage import Seen, Stage
from tests.integrations.wire import Ask, Turn

SECRET = "sk-ant-api03-" + "Zq7" * 12


@dataclass(frozen=True)
class Scenario:
    """One behaviour."""

    name: str
    title: str
    turns: Sequence[Turn]
    set_up: Callable[[Stage], None]
    check: Callable[[Stage, Seen], None]
    policy: Policy | None = None
    stops: bool = False
    """Whether the run ends before the script does: needs an adapter that knows runs."""


def _one(tool: str) -> list[Ask]:
    return [Ask("a1", tool)]


def _flake(stage: Stage) -> None:
    stage.tool("search", ConnectionResetError(), ConnectionResetError(), "found it", effects="read")


def _unseen(stage: Stage, seen: Seen) -> None:
    assert {"a1": "found it"} == seen.results
    assert not any(seen.flags.values())
    assert 3 == stage.calls("search")
    assert (2, "done") == (seen.requests, seen.final)


def _bad_argument(stage: Stage) -> None:
    stage.tool("book", ValueError("date must be ISO 8601"), "booked")


def _surfaced(stage: Stage, seen: Seen) -> None:
    assert "date must be ISO 8601" in seen.results["a1"]
    assert "validation" in seen.results["a1"]
    assert "Suggestions:" in seen.results["a1"]
    assert "booked" == seen.results["a2"]
    assert not seen.flags or {"a1": True, "a2": False} == seen.flags
    assert (3, "done", 2) == (seen.requests, seen.final, stage.calls("book"))


def _forbidden(stage: Stage) -> None:
    stage.tool("read", PermissionError(13, "Permission denied"), effects="read")


def _stopped(reason: str, requests: int, calls: int) -> Callable[[Stage, Seen], None]:
    def check(stage: Stage, seen: Seen) -> None:
        assert requests == seen.requests, "no model request follows a stop"
        assert STOP_MESSAGES[reason] == seen.final
        assert {f"a{number}" for number in range(1, requests + 1)} == set(seen.results)
        assert "The run has stopped." in seen.results[f"a{requests}"]
        assert calls == sum(map(stage.calls, stage.functions))

    return check


def _stubborn(stage: Stage) -> None:
    stage.tool("book", ValueError("date must be ISO 8601"), effects="read")


def _sick(stage: Stage) -> None:
    stage.tool("mirror", "from the mirror", offered=False, effects="read")
    stage.tool("search", ConnectionResetError(), effects="read", service="search-api", fallback=("mirror",))


def _rested(stage: Stage, seen: Seen) -> None:
    assert {"a1": "from the mirror", "a2": "from the mirror"} == seen.results
    assert 3 == stage.calls("search"), "the open breaker keeps the second call away"
    assert (3, "done") == (seen.requests, seen.final)


def _optional(stage: Stage) -> None:
    stage.tool("weather", ConnectionResetError(), effects="read", optional=True)
    stage.tool("search", "found it", effects="read")


def _degraded(_: Stage, seen: Seen) -> None:
    assert "weather is not available for the rest of this run. Go on without it." == seen.results["a1"]
    assert "found it" == seen.results["a2"]
    assert (3, "done") == (seen.requests, seen.final)
    if seen.offered:
        assert ["search", "weather"] == sorted(seen.offered[0])
        assert ["search"] == seen.offered[1]


def _two(stage: Stage) -> None:
    stage.tool("read", PermissionError(13, "Permission denied"), effects="read")
    stage.tool("search", "found it", effects="read")


def _all_answered(_: Stage, seen: Seen) -> None:
    assert {"a1", "a2", "a3"} == set(seen.results)
    assert "The run has stopped." in seen.results["a1"]
    assert set(seen.results.values()) - {seen.results["a1"]} <= {"found it", "Not run: this run has stopped."}
    assert (1, STOP_MESSAGES["permission"]) == (seen.requests, seen.final)


def _slow(stage: Stage) -> None:
    stage.cancels = True
    stage.tool("search", "found it", effects="read")
    stage.tool("wait", stage.wait, effects="read")


def _cancelled(stage: Stage, seen: Seen) -> None:
    expected = asyncio.CancelledError if stage.asynchronous else KeyboardInterrupt
    assert isinstance(seen.raised, expected)
    assert [] == stage.bench.of(FaultClassified), "cancellation is no fault"
    assert seen.continued is not False, "the transcript can be continued"


def _asking(stage: Stage) -> None:
    stage.tool("ask", stage.interrupt, effects="read")


def _passed(stage: Stage, seen: Seen) -> None:
    assert [] == stage.bench.of(FaultClassified), "an interrupt is no fault"
    assert 1 <= stage.calls("ask")
    assert seen.continued is True, "the framework's own machinery took the interrupt"


def _in_band(stage: Stage) -> None:
    busy = {"error": {"code": 503, "message": "unavailable"}}
    stage.tool("search", busy, busy, "found it", effects="read", in_band=True)


def _leaky(stage: Stage) -> None:
    stage.tool("search", ValueError(f"bad value for key {SECRET}"), "found it", effects="read")


def _redacted(stage: Stage, seen: Seen) -> None:
    assert SECRET not in str(seen.results)
    assert "bad value for key" in seen.results["a1"]
    assert SECRET not in str(stage.bench.events)
    assert "done" == seen.final


def _verbose(stage: Stage) -> None:
    stage.tool("search", ValueError("no such field " + "x" * 1_000_000), "found it", effects="read")


def _bounded(_: Stage, seen: Seen) -> None:
    assert "no such field" in seen.results["a1"]
    assert 1_000 > len(seen.results["a1"])
    assert "done" == seen.final


def _mute(stage: Stage) -> None:
    stage.tool("search", ValueError(), "found it", effects="read")


def _never_empty(_: Stage, seen: Seen) -> None:
    assert seen.results["a1"].strip()
    assert "done" == seen.final


def _streaming(stage: Stage) -> None:
    stage.stream("report", ["one, ", ConnectionResetError()], ["one, ", "two"], effects="read")


def _whole(stage: Stage, seen: Seen) -> None:
    assert {"a1": "one, two"} == seen.results
    assert 2 == stage.calls("report")
    assert (2, "done") == (seen.requests, seen.final)


_SICK = steady(Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=3)))
_TWICE = [_one("search"), [Ask("a2", "search")], "done"]

SCENARIOS = (
    Scenario("flake", "A flake the model never sees", [_one("search"), "done"], _flake, _unseen),
    Scenario("validation", "A validation error, surfaced with a suggestion",
             [_one("book"), [Ask("a2", "book", {"q": "y"})], "done"], _bad_argument, _surfaced),
    Scenario("permission", "A permission error stops the run", [_one("read"), "never"], _forbidden,
             _stopped("permission", 1, 1), stops=True),
    Scenario("run_breaker", "The run breaker trips",
             [_one("book"), [Ask("a2", "book", {"q": "y"})], [Ask("a3", "book", {"q": "z"})], "never"], _stubborn,
             _stopped("run_breaker", 3, 3), stops=True),
    Scenario("fallback", "An open service breaker with a fallback", _TWICE, _sick, _rested, policy=_SICK),
    Scenario("degrade", "An optional tool is given up", [_one("weather"), [Ask("a2", "search")], "done"], _optional,
             _degraded),
    Scenario("parallel", "Parallel calls: one stops the run, each gets a result",
             [[Ask("a1", "read"), Ask("a2", "search"), Ask("a3", "search", {"q": "y"})], "never"], _two,
             _all_answered, stops=True),
    Scenario("cancellation", "Cancellation", [[Ask("a1", "search"), Ask("a2", "wait")], "done"], _slow, _cancelled),
    Scenario("interrupt", "An interrupt passes", [_one("ask"), "done"], _asking, _passed),
    Scenario("in_band", "An error that comes back as a value", [_one("search"), "done"], _in_band, _unseen),
    Scenario("secret", "A secret in the error text", _TWICE, _leaky, _redacted),
    Scenario("huge", "A huge error", _TWICE, _verbose, _bounded),
    Scenario("mute", "An error without a text", _TWICE, _mute, _never_empty),
    Scenario("stream", "A tool that streams", [_one("report"), "done"], _streaming, _whole),
)  # fmt: skip
