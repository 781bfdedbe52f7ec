"""When a failing call would have worked: read off the trace where it tells, drawn from a model where not.

Every failing call has one hidden moment, its *recovery*: attempts before it fail,
later ones work. The trace brackets it, between the last attempt that failed and
the first that worked; where other calls on the service failed or worked at about
that time, they narrow the bracket. A replayed attempt outside the bracket has its
answer from the trace. Inside, it depends on a draw.

Inside a bracket that has an end, any moment is as likely as another. Where nobody saw
the call recover, the moment comes from the product-limit estimator (Kaplan and Meier
1958) over the failures of the same service and fingerprint, given that it had lasted
as long as it was seen failing. Such failures are censored in the estimate too, so the
model promises nothing from waiting longer than anyone has waited. Each replica draws
the recoveries within their brackets and the weights of the failures anew (multiple
imputation; Bayesian bootstrap, Rubin 1981), so that the spread between replicas holds
the uncertainty of the fit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from otel_toolerrors.analysis.statistics import seeded
from otel_toolerrors.faults import Fault

from .health import SICK, Health, Spell
from .recorded import RecordedCall, Recording

_ENOUGH = 5
"""Brackets that a group needs before it speaks for itself; else the service does, else everything."""


_Group = tuple[str, ...]
"""Failures that one curve is fitted to."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """What the trace says about one call's recovery. Times are absolute."""

    onset: float
    """The first failure."""
    failed: float
    """Known to fail up to here."""
    well: float
    """Known to work from here; infinity if never seen."""
    fault: Fault
    """What it fails with meanwhile."""
    spell: str
    """What it shares its recovery with: the service's spell, or only itself."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Share of failures that have not passed after a time."""

    times: tuple[float, ...]
    """Seconds after the first failure at which recoveries were seen."""
    passed: tuple[float, ...]
    """Share that has passed by each of these times."""

    def draw(self, after: float, u: float) -> float:
        """Draw a recovery later than ``after`` from ``u`` in [0, 1); infinity where nothing that late was seen."""
        low = self.share(after)
        place = bisect_right(self.passed, low + u * (1 - low))
        return self.times[place] if place < len(self.times) else inf

    def share(self, seconds: float) -> float:
        """Share that has passed after so many seconds."""
        place = bisect_right(self.times, seconds)
        return self.passed[place - 1] if place else 0.0


def product_limit(spans: Sequence[tuple[float, bool]], weights: Sequence[float]) -> Curve:
    """Estimate the curve from how long failures lasted, and whether that was their end or the last that was seen."""
    at_risk, left, times, passed = sum(weights), 1.0, [], []
    # Of failures at one moment, those that end there go first: the others were still at risk.
    for (seconds, ended), weight in sorted(
        zip(spans, weights, strict=True), key=lambda pair: (pair[0][0], not pair[0][1])
    ):
        if ended and at_risk > 0:
            left *= max(0.0, 1 - weight / at_risk)
            times.append(seconds)
            passed.append(1 - left)
        at_risk -= weight
    return Curve(tuple(times), tuple(passed))


class Outages:
    """Brackets of all failing calls, and the draws of one replica after another; the same for every policy."""

    def __init__(self, recording: Recording, seed: int = 0) -> None:
        self.health = Health(recording.calls)
        self.brackets = _brackets(recording.calls, self.health)
        self._members = _members(recording.calls, self.brackets)
        self._groups = {
            call.span_id: _group(self._members, call.service, self.brackets[call.span_id].fault)
            for call in recording.calls
            if call.span_id in self.brackets
        }
        self._seed = seed
        self._drawn: dict[int, dict[str, float]] = {}

    def recoveries(self, replica: int) -> dict[str, float]:
        """The moment each failing call recovers, in one replica, by span id."""
        if replica not in self._drawn:
            curves = {group: self._curve(group, replica) for group in set(self._groups.values())}
            self._drawn[replica] = {span: self._recovery(span, replica, curves) for span in self._groups}
        return self._drawn[replica]

    def _curve(self, group: _Group, replica: int) -> Curve:
        spans = [self._lasted(self.brackets[span], replica) for span in self._members[group]]
        random = seeded(self._seed, replica, *group)
        return product_limit(spans, [random.expovariate(1.0) for _ in spans])

    def _lasted(self, bracket: Bracket, replica: int) -> tuple[float, bool]:
        if bracket.well == inf:
            return bracket.failed - bracket.onset, False
        return self._within(bracket, replica) - bracket.onset, True

    def _within(self, bracket: Bracket, replica: int) -> float:
        return bracket.well - self._luck(bracket, replica) * (bracket.well - bracket.failed)

    def _recovery(self, span: str, replica: int, curves: dict[_Group, Curve]) -> float:
        bracket = self.brackets[span]
        if bracket.well < inf:
            return self._within(bracket, replica)
        curve = curves[self._groups[span]]
        return bracket.onset + curve.draw(bracket.failed - bracket.onset, self._luck(bracket, replica))

    def _luck(self, bracket: Bracket, replica: int) -> float:
        """The same for all calls of a spell: they recover together."""
        return seeded(self._seed, replica, bracket.spell).random()


def _brackets(calls: Iterable[RecordedCall], known: Health) -> dict[str, Bracket]:
    brackets = {}
    for call in calls:
        bracket = _own(call) if call.own() else _rested(call, known)
        if bracket is not None:
            own = bracket.fault.fingerprint in known.own.get(call.service, ())
            brackets[call.span_id] = bracket if own else _narrowed(bracket, known.spell(call.service, bracket.onset))
    return brackets


def _own(call: RecordedCall) -> Bracket | None:
    tries = call.own()
    failed = [(one.start, fault) for one in tries if (fault := one.fault) is not None]
    if not failed:
        return None
    onset, last, fault = failed[0][0], *failed[-1]
    well = tries[-1].start if tries[-1].fault is None else inf
    return Bracket(onset, last, well, fault, call.span_id)


def _rested(call: RecordedCall, known: Health) -> Bracket | None:
    """A call that a breaker rejected: what the last attempt on the service tells, if it failed."""
    before = known.before(call.service, call.start)
    onset, fault = before or (0.0, None)
    if fault is None:
        return None
    return Bracket(onset, onset, inf, fault, call.span_id)


def _narrowed(bracket: Bracket, spell: Spell | None) -> Bracket:
    """Take in what other calls saw of the same spell."""
    if spell is None or bracket.fault.category not in SICK:
        return bracket
    failed = max(bracket.failed, min(spell.last, bracket.well))
    well = max(failed, min(bracket.well, spell.well))
    return replace(bracket, failed=failed, well=well, spell=f"{spell.service} {spell.first}")


def _groups_of(service: str, fault: Fault) -> tuple[_Group, _Group, _Group]:
    kind = "passing" if fault.passing else "lasting"
    return (service, kind, fault.fingerprint), (service, kind), (kind,)


def _members(calls: Iterable[RecordedCall], brackets: dict[str, Bracket]) -> dict[_Group, list[str]]:
    members: dict[_Group, list[str]] = defaultdict(list)
    for call in calls:
        if (bracket := brackets.get(call.span_id)) is not None:
            for group in _groups_of(call.service, bracket.fault):
                members[group].append(call.span_id)
    return members


def _group(members: dict[_Group, list[str]], service: str, fault: Fault) -> _Group:
    groups = _groups_of(service, fault)
    return next((group for group in groups if len(members.get(group, ())) >= _ENOUGH), groups[-1])
