"""When a failing call would have worked: read off the trace where it tells, drawn from a model where not.

Every failing call has one hidden moment, its *recovery*: attempts before it fail,
later ones work. The trace brackets it, between the last attempt that failed and
the first that worked; where other calls on the service failed or worked at about
that time, they narrow the bracket. A replayed attempt outside the bracket has its
answer from the trace. Inside, it depends on a draw.

Draws come from the product-limit estimator (Kaplan and Meier 1958) over the
brackets of the same service and fingerprint: a recovery counts at the moment it
was *seen*, never earlier, and a call that nobody saw recover is censored when it
was last seen failing. So the model leans to "not yet", and promises nothing from
waiting longer than anyone has waited. Each replica weighs the brackets anew
(Bayesian bootstrap, Rubin 1981), so that the spread between replicas holds the
uncertainty of the fit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from random import Random

from otel_toolerrors.analysis.statistics import seeded
from otel_toolerrors.faults import Fault

from .health import SICK, Health, Spell, health
from .recorded import RecordedCall, Recording

_ENOUGH = 5
"""Brackets that a group needs before it speaks for itself; else the service does, else everything."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """What the trace says about one call's recovery. Times are absolute."""

    onset: float
    """The first failure."""
    failed: float
    """Known to fail up to here."""
    well: float
    """Known to work from here; infinity if never seen."""
    own_failed: float
    """The same, from the call's own attempts alone."""
    own_well: float
    fault: Fault
    """What it fails with meanwhile."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Share of failures that have not passed after a time."""

    times: tuple[float, ...]
    """Seconds after the first failure at which recoveries were seen."""
    passed: tuple[float, ...]
    """Share that has passed by each of these times."""

    def draw(self, after: float, until: float, u: float) -> float:
        """Draw a recovery in ``(after, until]`` from ``u`` in [0, 1); ``until`` if the curve knows of none there."""
        low = self.share(after)
        high = 1.0 if until == inf else self.share(until)
        if high <= low:
            return until
        place = bisect_right(self.passed, low + u * (high - low))
        return min(self.times[place], until) if place < len(self.times) else until

    def share(self, seconds: float) -> float:
        """Share that has passed after so many seconds."""
        place = bisect_right(self.times, seconds)
        return self.passed[place - 1] if place else 0.0


def product_limit(spans: Sequence[tuple[float, float]], weights: Sequence[float]) -> Curve:
    """Estimate the curve from ``(last seen failing, first seen working)`` pairs, the latter infinite if never seen."""
    events: dict[float, float] = defaultdict(float)
    leaving: dict[float, float] = defaultdict(float)
    for (failed, well), weight in zip(spans, weights, strict=True):
        if well < inf:
            events[well] += weight
        leaving[well if well < inf else failed] += weight
    at_risk, left, times, passed = sum(weights), 1.0, [], []
    for moment in sorted(leaving):
        if moment in events and at_risk > 0:
            left *= max(0.0, 1 - events[moment] / at_risk)
            times.append(moment)
            passed.append(1 - left)
        at_risk -= leaving[moment]
    return Curve(tuple(times), tuple(passed))


class Outages:
    """Brackets of all failing calls, and the draws of one replica after another; the same for every policy."""

    def __init__(self, recording: Recording, seed: int = 0, evidence: Recording | None = None) -> None:
        """``evidence``: what the curves are fitted to, if not the recording itself."""
        self.health: Health = health(recording.calls)
        self.brackets = _brackets(recording.calls, self.health)
        if evidence is None:
            self._spans = _grouped(recording.calls, self.brackets)
        else:
            self._spans = _grouped(evidence.calls, _brackets(evidence.calls, health(evidence.calls)))
        self._groups = {
            call.span_id: _group(self._spans, call, self.brackets[call.span_id])
            for call in recording.calls
            if call.span_id in self.brackets
        }
        self._seed = seed
        self._drawn: dict[int, dict[str, float]] = {}

    def recoveries(self, replica: int) -> dict[str, float]:
        """The moment each failing call recovers, in one replica, by span id."""
        if replica not in self._drawn:
            curves = {group: self._curve(group, replica) for group in set(self._groups.values())}
            self._drawn[replica] = {
                span: self._recovery(self.brackets[span], curves[group], seeded(self._seed, replica, span))
                for span, group in self._groups.items()
            }
        return self._drawn[replica]

    def _curve(self, group: tuple[str, ...], replica: int) -> Curve:
        spans, random = self._spans[group], seeded(self._seed, replica, *group)
        return product_limit(spans, [random.expovariate(1.0) for _ in spans])

    def _recovery(self, bracket: Bracket, curve: Curve, random: Random) -> float:
        return bracket.onset + curve.draw(bracket.failed - bracket.onset, bracket.well - bracket.onset, random.random())


def _brackets(calls: Iterable[RecordedCall], known: Health) -> dict[str, Bracket]:
    brackets = {}
    for call in calls:
        bracket = _own(call) if call.own() else _rested(call, known)
        if bracket is not None:
            brackets[call.span_id] = _narrowed(bracket, known.spell(call.service, bracket.onset))
    return brackets


def _own(call: RecordedCall) -> Bracket | None:
    tries = call.own()
    failed = [(one.start, fault) for one in tries if (fault := one.fault) is not None]
    if not failed:
        return None
    (onset, _), (last, fault) = failed[0], failed[-1]
    well = tries[-1].start if tries[-1].fault is None else inf
    return Bracket(onset, last, well, last, well, fault)


def _rested(call: RecordedCall, known: Health) -> Bracket | None:
    """A call that a breaker rejected: what the last attempt on the service tells, if it failed."""
    before = known.before(call.service, call.start)
    if before is None or before[1] is None:
        return None
    onset, fault = before
    return Bracket(onset, onset, inf, onset, inf, fault)


def _narrowed(bracket: Bracket, spell: Spell | None) -> Bracket:
    """Take in what other calls saw of the same spell."""
    if spell is None or bracket.fault.category not in SICK:
        return bracket
    failed = max(bracket.failed, min(spell.last, bracket.well))
    return replace(bracket, failed=failed, well=max(failed, min(bracket.well, spell.well)))


_Group = tuple[str, ...]
_Span = tuple[float, float]


def _groups_of(service: str, fault: Fault) -> tuple[_Group, _Group, _Group]:
    kind = "passing" if fault.passing else "lasting"
    return (service, kind, fault.fingerprint), (service, kind), (kind,)


def _grouped(calls: Iterable[RecordedCall], brackets: dict[str, Bracket]) -> dict[_Group, list[_Span]]:
    spans: dict[_Group, list[_Span]] = defaultdict(list)
    for call in calls:
        if (bracket := brackets.get(call.span_id)) is not None:
            for group in _groups_of(call.service, bracket.fault):
                spans[group].append((bracket.failed - bracket.onset, bracket.well - bracket.onset))
    return spans


def _group(spans: dict[_Group, list[_Span]], call: RecordedCall, bracket: Bracket) -> _Group:
    groups = _groups_of(call.service, bracket.fault)
    return next((group for group in groups if len(spans.get(group, ())) >= _ENOUGH), groups[-1])
