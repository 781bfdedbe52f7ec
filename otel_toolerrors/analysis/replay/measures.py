"""What a replay counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

from otel_toolerrors.analysis.statistics import Interval, spread
from otel_toolerrors.engine import Attempt, Decision
from otel_toolerrors.faults import Fault

from .health import SICK
from .recorded import RecordedCall

_SICK_ROW = 3
"""Failed attempts in a row on a service, whoever made them, after which more of them are load on a sick service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Counts of calls and attempts, and seconds."""

    calls: float
    """Calls that a policy had a say in."""
    ok: float
    """Calls that worked at once."""
    recovered: float
    """Calls that worked in the end: by a retry, a fallback or a cached result."""
    failed: float
    """Calls that did not: surfaced, degraded or stopped."""
    cut_off: float
    """Calls never made, because the run had stopped earlier than it did when recorded."""
    attempts: float
    wasted_attempts: float
    """Repeated attempts that failed as well."""
    sick_attempts: float
    """Failed attempts on a service that had already failed three times in a row, whoever asked."""
    rejected: float
    """Attempts that a breaker refused to make."""
    added_latency: float
    """Seconds that calls took beyond their first attempt, waits included."""
    duplicate_risk: float
    """Repeats of a write that may already have taken effect, without an idempotency key."""
    exact: float
    """Share of calls whose every answer stands in the traces; the rest is modelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed(Measures):
    """The mean of the replicas, and how far they spread."""

    intervals: dict[str, Interval]
    """For each measure, the range that holds nine tenths of the replicas."""
    replicas: tuple[Measures, ...]

    @property
    def modelled(self) -> float:
        """Share of calls with at least one modelled answer."""
        return 1 - self.exact


def summary(replicas: Sequence[Measures]) -> Replayed:
    """Put replicas together."""
    names = [field.name for field in fields(Measures)]
    intervals = {name: spread([getattr(one, name) for one in replicas]) for name in names}
    means = {name: interval.value for name, interval in intervals.items()}
    return Replayed(**means, intervals=intervals, replicas=tuple(replicas))


class Tally:
    """Counts one replica."""

    def __init__(self) -> None:
        self.sick_row: Counter[tuple[str, str]] = Counter()
        self.sick_attempts = 0
        self._scores: list[Score] = []

    def begin(self, call: RecordedCall) -> Score:
        """Open the score of one call."""
        score = Score(self, call)
        self._scores.append(score)
        return score

    def measures(self) -> Measures:
        """Add it all up."""
        scores = self._scores
        ended = Counter(score.ending for score in scores)
        return Measures(
            calls=len(scores),
            ok=ended["ok"],
            recovered=ended["recovered"],
            failed=ended["failed"],
            cut_off=ended["cut_off"],
            attempts=sum(score.attempts for score in scores),
            wasted_attempts=sum(score.wasted for score in scores),
            sick_attempts=self.sick_attempts,
            rejected=sum(score.rejections for score in scores),
            added_latency=sum(score.added for score in scores),
            duplicate_risk=sum(score.risky for score in scores),
            exact=sum(score.exact for score in scores) / len(scores) if scores else 1.0,
        )


class Score:
    """Counts one call."""

    __slots__ = (
        "_call",
        "_first_ended",
        "_last",
        "_tally",
        "added",
        "attempts",
        "ending",
        "exact",
        "rejections",
        "risky",
        "wasted",
    )

    def __init__(self, tally: Tally, call: RecordedCall) -> None:
        self._tally = tally
        self._call = call
        self._last: Fault | None = None
        self._first_ended: float | None = None
        self.attempts = self.wasted = self.risky = self.rejections = 0
        self.added = 0.0
        self.exact = True
        self.ending = "cut_off"

    def attempt(self, attempt: Attempt, fault: Fault | None, ended: float, *, exact: bool) -> None:
        """Count an attempt that ended at ``ended``."""
        self.exact = self.exact and exact
        self.attempts += 1
        own = attempt.tool == self._call.tool
        if own and self._last is not None and self._may_double(self._last):
            self.risky += 1
        self.wasted += self.attempts > 1 and fault is not None
        if self._first_ended is None:
            self._first_ended = ended
        if own:
            self._watch(fault)
        self._last = fault

    def rejected(self) -> None:
        """Count a breaker's no."""
        self.rejections += 1

    def decided(self, decision: Decision, now: float) -> None:
        """Close the score."""
        self.added = now - (self._call.start if self._first_ended is None else self._first_ended)
        if decision.kind == "ok":
            self.ending = "ok" if decision.fault is None else "recovered"
        elif decision.kind != "cancelled":
            self.ending = "failed"

    def _may_double(self, fault: Fault) -> bool:
        # By the effects that were recorded: a policy that calls a write a read does not make it one.
        call = self._call
        return call.effects in ("write", "destructive") and fault.side_effects != "none" and not call.keyed

    def _watch(self, fault: Fault | None) -> None:
        row, key = self._tally.sick_row, (self._call.fleet, self._call.service)
        if fault is None or fault.category not in SICK:
            row[key] = 0
            return
        self._tally.sick_attempts += row[key] >= _SICK_ROW
        row[key] += 1
