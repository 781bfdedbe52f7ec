"""What simulated fleets are made of: tools, troubles, hints, and the causes that are planted in them.

The truth about a planted cause stands beside it: the kind of finding that it must lead to, about what, and what else
rightly follows from it.
"""

# ruff: noqa: FBT003 - the planted looks are read as a table

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from otel_toolerrors.faults import Fault, Verdict, fingerprint
from otel_toolerrors.surface import Suggestion

Reaction = str
"""What the simulated model does about a failure: repeat, repair (call the tool's repairer, then repeat), fix (other
arguments), follow (call the suggested tool, then other arguments), or go (move on)."""


@dataclass(frozen=True)
class Look:
    """How a fault looks."""

    category: Any
    code: str
    passing: bool
    message: str
    exception_type: str | None = None
    http_status: int | None = None
    retry_after: float | None = None
    side_effects: Any = "unknown"
    message_says: Any = None
    """A category that the message names, if it disagrees."""

    def fault(self, effects: Any, random: Random) -> Fault:
        """One occurrence of it."""
        message = self.message.format(n=random.randint(100, 999))
        return Fault(
            category=self.category, code=self.code, passing=self.passing, side_effects=self.side_effects,
            effects=effects, message=message, fingerprint=fingerprint(self.exception_type, self.code, message),
            retry_after=self.retry_after, http_status=self.http_status, exception_type=self.exception_type,
            signal="status" if self.http_status else "type", strength="strong", verdicts=self._verdicts(),
        )  # fmt: skip

    def _verdicts(self) -> tuple[Verdict, ...]:
        if self.message_says is None:
            return ()
        return (Verdict(signal="message", observed="", category=self.message_says, code="", strength="weak"),)


@dataclass(frozen=True)
class Trouble:
    """A fault that a tool meets, and how it behaves."""

    tool: str
    look: Look
    share: float = 0.0
    """Share of the calls that meet it; the rest of the fields say what then happens."""
    heals: Callable[[Random], float] | None = None
    """Seconds after which the call works; None: never with these arguments."""
    outages: tuple[tuple[float, float], ...] = ()
    """Instead of a share: times, in seconds from the start, in which every attempt fails."""
    leaks: float = 0.0
    """Share of the attempts in an outage that work all the same."""
    reactions: tuple[tuple[Reaction, float], ...] = (("go", 1.0),)
    bare: tuple[tuple[Reaction, float], ...] = ()
    """What the model does in the arm without context, where that differs."""
    repaired_by: str = ""
    """A call of this tool heals it at once."""


@dataclass(frozen=True)
class Tool:
    """A simulated tool."""

    name: str
    effects: Any = "read"
    seconds: float = 0.2
    weight: float = 1.0
    service: str = ""


TOOLS = (
    Tool("search", weight=3, service="search-api"),
    Tool("fetch", seconds=0.4, weight=2, service="web"),
    Tool("read_file", seconds=0.02, weight=3, service="files"),
    Tool("list_files", seconds=0.02, service="files"),
    Tool("write_file", "write", 0.03, service="files"),
    Tool("query", seconds=0.3, weight=2, service="db"),
    Tool("create_ticket", "write", 0.5, 0.5, service="tickets"),
    Tool("archive", weight=0.0, service="archive"),
)

RESET = Look("transient", "connection.reset", True, "connection reset by peer", "ConnectionResetError")
UNAVAILABLE = Look("transient", "http.503", True, "503 Service Unavailable ({n})", "httpx.HTTPStatusError", 503)
MISSING = Look(
    "not_found", "file.missing", False, "no such file: 'report_{n}.csv'", "FileNotFoundError", side_effects="none"
)
INVALID = Look("validation", "argument.invalid", False, "limit must be at most {n}", "ValueError", side_effects="none")
STALE_READ = Look("validation", "state.unready", False, "table {n} has not been loaded", "RuntimeError")


def soon(low: float, high: float) -> Callable[[Random], float]:
    """A time to heal between two bounds."""
    return lambda random: random.uniform(low, high)


ORDINARY = (
    # What every fleet has, and no finding should complain about.
    Trouble("search", RESET, 0.03, heals=soon(0.0, 0.3)),
    Trouble("fetch", UNAVAILABLE, 0.03, heals=soon(0.1, 1.5)),
    Trouble("read_file", MISSING, 0.04, reactions=(("fix", 0.7), ("repeat", 0.1), ("go", 0.2))),
    Trouble("search", INVALID, 0.03, reactions=(("fix", 0.9), ("repeat", 0.1))),
    # "Has not been loaded" passes when the model repeats it, but only because another call has repaired it.
    Trouble("query", STALE_READ, 0.05, reactions=(("repair", 0.9), ("go", 0.1)), repaired_by="write_file"),
)

HINTS = (
    Suggestion(
        id="missing.list", text="List the files to find the right name.", code="file.missing", tools=("list_files",)
    ),
    Suggestion(id="invalid.limit", text="Use a smaller limit.", code="argument.invalid"),
)


@dataclass(frozen=True)
class Plant:
    """One planted cause, and the finding that it must lead to."""

    kind: str
    """The finding's kind."""
    about: str
    """The finding's tool, service or code."""
    troubles: tuple[Trouble, ...] = ()
    hints: tuple[Suggestion, ...] = ()
    policy: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    """What the fleet needs to show it."""
    processes: int = 1
    """Processes that meet it together, each with breakers of its own."""
    also: tuple[str, ...] = ()
    """Other kinds of finding that rightly follow from it."""
    new: bool = False
    """Whether it came with a new release, after as many runs without it."""
    earlier: tuple[Trouble, ...] = ()
    """What the release before had in its place."""


FLAKY_404 = Look(
    "not_found", "http.404", False, "404 Not Found: item {n}", "httpx.HTTPStatusError", 404, side_effects="none"
)
UNSUPPORTED = Look(
    "transient", "http.500", True, "500: unsupported feature {n}", "HTTPError", 500, message_says="permanent"
)
BROKEN_QUERY = Look("transient", "http.500", True, "500: division by zero in view {n}", "httpx.HTTPStatusError", 500)
AUTH_DOWN = Look(
    "validation", "auth.backend", False, "the sign-on service did not answer ({n})", "AuthError", side_effects="none"
)
LIMITED = Look(
    "rate_limited", "http.429", True, "429 Too Many Requests", "RateLimitError", 429, 20.0, side_effects="none"
)
TIMEOUT = Look("transient", "timeout.read", True, "no answer after {n} ms", "ReadTimeout")
FORBIDDEN = Look("permission", "http.403", False, "403 Forbidden", "httpx.HTTPStatusError", 403, side_effects="none")
GONE = Look("not_found", "item.gone", False, "item {n} is gone", "LookupError", side_effects="none")

PATIENT_RUN = {"run": {"stop_on": [], "tool_failures": 50, "corrections_in_a_row": 50, "corrections": 50}}

PLANTS = {
    "should_retry": Plant(
        "misclassified_should_retry", "fetch",
        (Trouble("fetch", FLAKY_404, 0.06, heals=soon(0.2, 1.5), reactions=(("repeat", 0.6), ("go", 0.4))),),
    ),
    "should_not_retry": Plant(
        "misclassified_should_not_retry", "query", (Trouble("query", BROKEN_QUERY, 0.06),),
        policy={"run": {"stop_on": []}}, also=("breaker_false_trip",),
    ),
    "stale_hint": Plant(
        "stale_suggestion", "gone.find",
        (Trouble("fetch", GONE, 0.05),),
        (Suggestion(id="gone.find", text="Use find_item.", code="item.gone", tools=("find_item",)),),
        policy={"surface": {"stale": "show"}},
    ),
    "misleading_hint": Plant(
        "stale_suggestion", "gone.search",
        (Trouble("fetch", GONE, 0.08, reactions=(("follow", 0.9), ("go", 0.1)), heals=None),),
        (Suggestion(id="gone.search", text="Search for it.", code="item.gone", tools=("search",)),),
        also=("injection_overhead", "uncaught_loop"),
    ),
    "overhead": Plant(
        "injection_overhead", "auth.backend",
        (Trouble("search", AUTH_DOWN, outages=((0.2, 0.5),)), Trouble("query", AUTH_DOWN, outages=((0.2, 0.5),))),
        (Suggestion(id="auth.wait", text="The sign-on service is down. " * 8, code="auth.backend"),),
        policy={"surface": {"systemic_operations": 1000}, "run": {"tool_failures": 50, "corrections_in_a_row": 50}},
        also=("injection_effect",),
    ),
    "ignored_hint": Plant(
        "stale_suggestion", "gone.archive",
        (Trouble("fetch", GONE, 0.2),),
        (Suggestion(id="gone.archive", text="Look in the archive.", code="item.gone", tools=("archive",)),),
    ),
    "decayed_hint": Plant(
        "stale_suggestion", "gone.other",
        (Trouble("fetch", GONE, 0.15, reactions=(("repeat", 0.5), ("fix", 0.5))),),
        (Suggestion(id="gone.other", text="Fetch another item.", code="item.gone"),),
        policy=PATIENT_RUN, new=True, earlier=(Trouble("fetch", GONE, 0.15, reactions=(("fix", 1.0),)),),
        also=("regression", "uncaught_loop", "injection_effect", "injection_overhead"),
    ),
    "signals_disagree": Plant(
        "misclassified_signals_disagree", "fetch",
        (Trouble("fetch", UNSUPPORTED, 0.03),),
        policy=PATIENT_RUN, also=("misclassified_should_not_retry", "breaker_false_trip"),
    ),
    "unknown": Plant(
        "unknown_cluster", "unknown",
        (Trouble("fetch", Look("unknown", "unknown", False, "registry desynchronised at {n}", "WidgetError"), 0.04),),
    ),
    "helpful_context": Plant(
        "injection_effect", "",
        (Trouble("fetch", GONE, 0.3, reactions=(("fix", 1.0),), bare=(("repeat", 0.5), ("fix", 0.5))),),
        policy={"surface": {"held_out": 0.5}, **PATIENT_RUN}, also=("uncaught_loop", "injection_overhead"),
    ),
    "false_trip": Plant(
        "breaker_false_trip", "web", (Trouble("fetch", replace(BROKEN_QUERY, message="500: bad template {n}"), 0.5),),
        policy=PATIENT_RUN, options={"every": 10.0}, also=("misclassified_should_not_retry",),
    ),
    "late_trip": Plant(
        "breaker_late_trip", "search-api", (Trouble("search", UNAVAILABLE, outages=((0.3, 0.45),)),),
        policy={**PATIENT_RUN, "breaker": {"minimum_calls": 100_000}}, also=("retry_storm",),
    ),
    "flapping": Plant(
        "breaker_flapping", "search-api", (Trouble("search", UNAVAILABLE, outages=((0.2, 0.8),), leaks=0.3),),
        policy={**PATIENT_RUN, "breaker": {"minimum_calls": 3, "failure_rate": 0.5, "cooldown": 10.0}},
        options={"every": 4.0}, also=("breaker_false_trip", "breaker_late_trip", "budget_waste", "retry_storm"),
    ),
    "retry_storm": Plant(
        "retry_storm", "search-api", (Trouble("search", UNAVAILABLE, outages=((0.3, 0.6),)),),
        policy={**PATIENT_RUN, "breaker": {"control": "disabled"}, "retry": {"max_attempts": 6, "base_delay": 0.2}},
        options={"every": 2.0}, also=("breaker_late_trip", "budget_waste"),
    ),
    "ignored_wait": Plant(
        "retry_after_ignored", "search-api", (Trouble("search", LIMITED, outages=((0.3, 0.5),)),),
        policy=PATIENT_RUN, options={"every": 5.0}, processes=2, also=("rate_limit_storm", "injection_overhead"),
    ),
    "budget_waste": Plant(
        "budget_waste", "query", (Trouble("query", BROKEN_QUERY, 0.4),),
        policy={**PATIENT_RUN, "breaker": {"control": "disabled"}, "budget": {"capacity": 40.0, "floor": 0}},
        also=("misclassified_should_not_retry",),
    ),
    "double_write": Plant(
        "duplicate_write_risk", "create_ticket",
        (Trouble("create_ticket", TIMEOUT, 0.3, heals=soon(0.5, 1.0), reactions=(("repeat", 1.0),)),),
        policy=PATIENT_RUN,
    ),
    "lost_access": Plant(
        "permission_drift", "create_ticket", (Trouble("create_ticket", FORBIDDEN, outages=((0.5, 2.0),)),),
        policy=PATIENT_RUN,
    ),
    "loop": Plant(
        "uncaught_loop", "list_files", (Trouble("list_files", GONE, 0.1, reactions=(("repeat", 1.0),)),),
        policy=PATIENT_RUN, also=("injection_effect", "injection_overhead"),
    ),
    "limit_storm": Plant(
        "rate_limit_storm", "search-api", (Trouble("search", LIMITED, outages=((0.3, 0.6),)),),
        policy={"run": {"stop_on": []}}, options={"every": 1.0}, processes=3,
        also=("retry_after_ignored", "injection_overhead"),
    ),
    "new_release": Plant("regression", "fetch", (Trouble("fetch", GONE, 0.2),), new=True),
}  # fmt: skip
