"""The calls as they were made: what replay answers from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_toolerrors.engine import Call, Surroundings
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Declaration, ToolRules
from otel_toolerrors.vocabulary import Effects, Event

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

UNASKED = ("denied", "cancelled")
"""Outcomes of calls that no policy had a say in: refused by the permission check, or never made."""


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt, as it was made."""

    tool: str
    start: float
    end: float
    fault: Fault | None
    """None: it worked."""

    @property
    def duration(self) -> float:
        """Seconds it took."""
        return self.end - self.start


@dataclass(slots=True)
class RecordedCall:
    """One logical call, as it was made."""

    trace_id: str
    span_id: str
    run: str
    fleet: str
    """The process it ran in: what shares breakers, budgets and pacing."""
    tool: str
    service: str
    effects: Effects
    keyed: bool
    source: str
    target: str
    start: float
    end: float
    outcome: str
    tries: list[Try] = field(default_factory=list)
    refreshed: bool = False
    """Whether a refresh of its credential worked."""

    def call(self, rules: ToolRules, around: Surroundings, now: float, emit: Callable[[Event], None]) -> Call:
        """The call, as the engine takes it."""
        target, key = f"{self.tool} {self.target}", "recorded" if self.keyed else None
        return Call(self.tool, {}, rules=rules, around=around, now=now, emit=emit, target=target, key=key)

    def own(self) -> list[Try]:
        """Its attempts at its own tool, without those of fallbacks."""
        return [one for one in self.tries if one.tool == self.tool]


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything that replay knows."""

    calls: list[RecordedCall]
    """In the order they began."""
    declared: dict[str, Declaration]
    """What each tool was seen to declare."""

    def runs(self) -> list[str]:
        """The runs, in the order they began."""
        return list(dict.fromkeys(call.run for call in self.calls))

    def only(self, runs: set[str]) -> Recording:
        """The part of it that these runs made."""
        return Recording([call for call in self.calls if call.run in runs], self.declared)


def record(traces: Traces) -> Recording:
    """Read the calls that this package's own layer made; others tell too little of attempts."""
    faults = _faults(traces)
    tries = _tries(traces, faults)
    refreshed = dict(
        traces.sql("SELECT call_span_id, bool_or(succeeded) FROM refreshes GROUP BY call_span_id").fetchall()
    )
    calls = []
    for row in traces.sql(_CALLS).fetchall():
        call = RecordedCall(*row)
        call.tries = tries.get(call.span_id) or _at_once(call)
        call.refreshed = bool(refreshed.get(call.span_id))
        calls.append(call)
    return Recording(calls, _declared(traces, calls))


_CALLS = f"""
SELECT c.trace_id, c.span_id, c.run_id, concat_ws(' ', c.service_name, s."service.instance.id"), c.tool, c.service,
  c.effects, coalesce(c.keyed, false), c.source, c.arguments, c.start, c."end", c.outcome
FROM calls c JOIN spans s ON s.trace_id = c.trace_id AND s.span_id = c.span_id
WHERE c.instrumentation = 'toolerrors' AND c.outcome NOT IN {UNASKED}
ORDER BY c.start, c."index", c.span_id"""

_TRIES = """
SELECT call_span_id, attempt, tool, start, "end", category
FROM attempts WHERE recorded AND instrumentation = 'toolerrors' ORDER BY start, attempt"""

_FAULTS = """
SELECT f.call_span_id, f.attempt, f.category, f.code, f.passing, f.side_effects, coalesce(f.effects, 'write'),
  f.message, f.fingerprint, f.retry_after, f.http_status, f.exception_type, coalesce(r.reason = 'server', false)
FROM faults f LEFT JOIN retries r
  ON r.call_span_id = f.call_span_id AND r.attempt = f.attempt AND r.reason = 'server'
WHERE f.passing IS NOT NULL AND f.call_span_id IS NOT NULL"""


def _faults(traces: Traces) -> dict[tuple[str, int], Fault]:
    names = (
        "category", "code", "passing", "side_effects", "effects", "message", "fingerprint", "retry_after",
        "http_status", "exception_type", "refused_by_server",
    )  # fmt: skip
    rows = traces.sql(_FAULTS).fetchall()
    return {(span, attempt): Fault(**dict(zip(names, row, strict=True))) for span, attempt, *row in rows}


def _tries(traces: Traces, faults: dict[tuple[str, int], Fault]) -> dict[str, list[Try]]:
    tries: dict[str, list[Try]] = defaultdict(list)
    for span, attempt, tool, start, end, category in traces.sql(_TRIES).fetchall():
        fault = faults.get((span, attempt)) if category is not None else None
        if category is not None and fault is None:
            continue  # the event was lost; without it the failure cannot be judged again
        tries[span].append(Try(tool, start, end, fault))
    return tries


def _at_once(call: RecordedCall) -> list[Try]:
    """The attempt of a call that worked at once, which has no span of its own."""
    return [Try(call.tool, call.start, call.end, None)] if call.outcome == "ok" else []


def _declared(traces: Traces, calls: list[RecordedCall]) -> dict[str, Declaration]:
    degraded = _column(traces, "SELECT DISTINCT tool FROM degradations")
    refreshed = dict(traces.sql("SELECT tool, min(credential) FROM refreshes GROUP BY tool").fetchall())
    cached = dict(traces.sql("SELECT tool, max(age) FROM fallbacks WHERE fallback = 'cache' GROUP BY tool").fetchall())
    fallbacks: dict[str, list[str]] = defaultdict(list)
    for tool, fallback in traces.sql(_FALLBACKS).fetchall():
        fallbacks[tool].append(fallback)
    return {
        call.tool: Declaration(
            effects=call.effects, service=call.service, optional=call.tool in degraded,
            credential=refreshed.get(call.tool), cache_ttl=cached.get(call.tool), fallback=tuple(fallbacks[call.tool]),
        )
        for call in calls
    }  # fmt: skip


_FALLBACKS = """
SELECT tool, fallback FROM fallbacks WHERE fallback <> 'cache'
GROUP BY tool, fallback ORDER BY tool, min(ts), fallback"""


def _column(traces: Traces, query: str) -> set[Any]:
    return {row[0] for row in traces.sql(query).fetchall()}
