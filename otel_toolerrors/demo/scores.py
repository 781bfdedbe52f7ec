"""Before and after: what the traces say about a round, and what only the server knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from otel_toolerrors.analysis import Traces

    from .rounds import Round

Better = Literal["more", "fewer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One round in numbers."""

    finished: int
    """Tasks that the agent got done."""
    at_once: int
    recovered: int
    failed: int
    """Calls that were surfaced, degraded or stopped the run."""
    wasted: int
    """Repeated attempts that failed as well."""
    added_latency: float
    """Seconds that calls took beyond their first attempt."""
    duplicates: int
    """Writes that took effect twice, counted by the server."""
    injected_tokens: int
    requests: int
    """Requests that reached the server."""


_COUNTS = """
SELECT count(*) FILTER (outcome = 'ok'), count(*) FILTER (outcome = 'recovered'),
  count(*) FILTER (outcome IN ('surfaced', 'degraded', 'stopped'))
FROM calls"""
_WASTED = "SELECT count(*) FROM attempts WHERE recorded AND attempt > 1 AND category IS NOT NULL"
_ADDED = """
SELECT coalesce(sum(c.duration - a.duration), 0)
FROM calls c JOIN attempts a ON a.call_span_id = c.span_id AND a.trace_id = c.trace_id
WHERE a.recorded AND a.attempt = 1"""
_TOKENS = "SELECT coalesce(sum(injected_tokens), 0) FROM surfaced"


def scores(traces: Traces, played: Round) -> Scores:
    """Count a round."""
    at_once, recovered, failed = _row(traces, _COUNTS)
    return Scores(
        finished=played.diary.finished,
        at_once=int(at_once),
        recovered=int(recovered),
        failed=int(failed),
        wasted=int(_row(traces, _WASTED)[0]),
        added_latency=_row(traces, _ADDED)[0],
        duplicates=played.ledger.duplicates,
        injected_tokens=int(_row(traces, _TOKENS)[0]),
        requests=played.ledger.requests,
    )


_LABELS: dict[str, tuple[str, Better]] = {
    "finished": ("tasks finished", "more"),
    "recovered": ("calls recovered", "more"),
    "failed": ("calls failed", "fewer"),
    "wasted": ("wasted attempts", "fewer"),
    "added_latency": ("added latency, s", "fewer"),
    "duplicates": ("duplicate writes", "fewer"),
    "injected_tokens": ("tokens injected", "fewer"),
    "requests": ("requests to the server", "fewer"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One measure, before and after."""

    label: str
    before: float
    after: float
    better: Better

    @property
    def gain(self) -> float:
        """Positive if it got better."""
        change = self.after - self.before
        return change if self.better == "more" else -change

    @property
    def verdict(self) -> str:
        """better, worse or same."""
        return "same" if round(self.gain, 1) == 0 else "better" if self.gain > 0 else "worse"


def compared(before: Scores, after: Scores) -> Iterator[Line]:
    """Set two rounds side by side."""
    for field in fields(Scores):
        if field.name in _LABELS:
            label, better = _LABELS[field.name]
            yield Line(label, getattr(before, field.name), getattr(after, field.name), better)


def _row(traces: Traces, query: str) -> tuple[float, ...]:
    return tuple(traces.sql(query).fetchall()[0])
