"""What a replay counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
    """For each measure, the range in which another replica would fall nine times in ten, or its ``level`` of few."""
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
        self.scores: list[Score] = []
        self.sick_row: Counter[tuple[str, str]] = Counter()

    def measures(self) -> Measures:
        """Add it all up."""
        return added_up(self.scores)

    def by_run(self) -> dict[str, Measures]:
        """Add it up for each run."""
        runs: dict[str, list[Score]] = {}
        for score in self.scores:
            runs.setdefault(score.call.run, []).append(score)
        return {run: added_up(scores) for run, scores in runs.items()}


def added_up(scores: Sequence[Score]) -> Measures:
    """Add up the scores of calls."""
    ended = Counter(score.ending for score in scores)

    def total(name: str) -> float:
        return float(sum(getattr(score, name) for score in scores))

    return Measures(
        calls=len(scores), ok=ended["ok"], recovered=ended["recovered"], failed=ended["failed"],
        cut_off=ended["cut_off"], attempts=total("attempts"), wasted_attempts=total("wasted"),
        sick_attempts=total("sick"), rejected=total("rejections"), added_latency=total("added"),
        duplicate_risk=total("risky"), exact=total("exact") / len(scores) if scores else 1.0,
    )  # fmt: skip


class Score:
    """Counts one call."""

    __slots__ = (
        "_first_ended", "_last", "_tally", "added", "attempts", "call", "ending", "exact", "rejections", "risky",
        "sick", "wasted",
    )  # fmt: skip

    def __init__(self, tally: Tally, call: RecordedCall) -> None:
        self._tally = tally
        self._last: Fault | None = None
        self._first_ended: float | None = None
        self.call = call
        self.attempts = self.wasted = self.sick = self.risky = self.rejections = 0
        self.added = 0.0
        self.exact = True
        self.ending = "cut_off"
        tally.scores.append(self)

    def attempt(self, attempt: Attempt, fault: Fault | None, ended: float, *, exact: bool) -> None:
        """Count an attempt that ended at ``ended``."""
        self.exact = self.exact and exact
        self.attempts += 1
        if self._first_ended is None:
            self._first_ended = ended
        if fault is not None:
            self.wasted += self.attempts > 1
        if attempt.tool == self.call.tool:
            self.risky += self._last is not None and self._may_double(self._last)
            self._watch(fault)
        self._last = fault

    def decided(self, decision: Decision, start: float, now: float) -> None:
        """Close the score."""
        self.added = now - (start if self._first_ended is None else self._first_ended)
        if decision.kind == "ok":
            self.ending = "ok" if decision.fault is None else "recovered"
        elif decision.kind != "cancelled":
            self.ending = "failed"

    def _may_double(self, fault: Fault) -> bool:
        # By the effects that were recorded: a policy that calls a write a read does not make it one.
        call = self.call
        return call.effects in ("write", "destructive") and fault.side_effects != "none" and not call.keyed

    def _watch(self, fault: Fault | None) -> None:
        row, key = self._tally.sick_row, (self.call.fleet, self.call.service)
        if fault is None or fault.category not in SICK:
            row[key] = 0
            return
        self.sick += row[key] >= _SICK_ROW
        row[key] += 1


def mean_of(measures: Iterable[Measures]) -> Measures:
    """The mean of several."""
    many = list(measures)
    return Measures(**{f.name: sum(getattr(one, f.name) for one in many) / len(many) for f in fields(Measures)})
