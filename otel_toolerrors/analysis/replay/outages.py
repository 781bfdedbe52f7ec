"""When a failing call would have worked: read off the trace where it tells, drawn from a model where not.

Every failing call has one hidden moment, its *recovery*: attempts before it fail,
later ones work. The trace brackets it, between the last attempt that failed and
the first that worked; where other calls on the service failed or worked at about
that time, they narrow the bracket. A replayed attempt outside the bracket has its
answer from the trace. Inside, it depends on a draw.

Draws come from the self-consistent estimator for bracketed times (Turnbull 1976; where each end was seen, that
of Kaplan and Meier 1958) over the failures of the same service and fingerprint, given what the bracket says. A failure
that nobody saw end is bracketed by infinity, so the model promises nothing from waiting longer than
anyone has waited. One that ended while nobody looked, as behind an open breaker, is placed where others ended that were
better seen. What no other failure tells is placed by doublings of the time since the first failure: outages
have no scale of their own. Calls in one spell of a service recover together and count once. Each replica draws the
recoveries and the weights of the failures anew (Bayesian bootstrap, Rubin 1981), so that the spread
between replicas holds the uncertainty of the fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from otel_toolerrors.analysis.statistics import seeded
from otel_toolerrors.faults import Fault

from .health import SICK, Health, Spell
from .recorded import RecordedCall, Recording
from .survival import Durations, Interval, self_consistent

_ENOUGH = 5
"""Brackets that a group needs before it speaks for itself; else the service does, else everything."""

_Group = tuple[str, ...]
"""Failures that share one estimate."""


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

    @property
    def lasted(self) -> Interval:
        """Seconds since the onset within which it passed."""
        return self.failed - self.onset, self.well - self.onset


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
            fitted = {group: self._fitted(group, replica) for group in set(self._groups.values())}
            self._drawn[replica] = {
                span: self._recovery(self.brackets[span], replica, fitted[group])
                for span, group in self._groups.items()
            }
        return self._drawn[replica]

    def _fitted(self, group: _Group, replica: int) -> Durations:
        members = self._members[group]
        random = seeded(self._seed, replica, *group)
        return self_consistent([one.lasted for one in members], [random.expovariate(1.0) for _ in members])

    def _recovery(self, bracket: Bracket, replica: int, durations: Durations) -> float:
        luck = seeded(self._seed, replica, bracket.spell).random()  # the same for all calls of a spell
        return bracket.onset + durations.draw(bracket.lasted, luck)


def _brackets(calls: Sequence[RecordedCall], known: Health) -> dict[str, Bracket]:
    # Spells are named by their time since the recording began: what is drawn for them does not depend on the date.
    zero = min((call.start for call in calls), default=0.0)
    brackets = {}
    for call in calls:
        bracket = _own(call) if call.own() else _rested(call, known, zero)
        if bracket is not None:
            own = bracket.fault.fingerprint in known.own.get(call.service, ())
            spell = None if own else known.spell(call.service, bracket.onset)
            brackets[call.span_id] = _narrowed(bracket, spell, zero)
    return brackets


def _own(call: RecordedCall) -> Bracket | None:
    tries = call.own()
    failed = [(one.start, fault) for one in tries if (fault := one.fault) is not None]
    if not failed:
        return None
    onset, last, fault = failed[0][0], *failed[-1]
    well = tries[-1].start if tries[-1].fault is None else inf
    return Bracket(onset, last, well, fault, call.span_id)


def _rested(call: RecordedCall, known: Health, zero: float) -> Bracket | None:
    """A call that a breaker rejected: what the last attempt on the service tells, if it failed."""
    before = known.before(call.service, call.start)
    onset, fault = before or (0.0, None)
    if fault is None:
        return None
    return Bracket(onset, onset, known.answered(call.service, onset), fault, f"{call.service} {onset - zero:.3f}")


def _narrowed(bracket: Bracket, spell: Spell | None, zero: float) -> Bracket:
    """Take in what other calls saw of the same spell."""
    if spell is None or bracket.fault.category not in SICK:
        return bracket
    name = f"{spell.service} {spell.first - zero:.3f}"
    return replace(bracket, onset=spell.first, failed=spell.last, well=spell.well, spell=name)


def _groups_of(service: str, fault: Fault) -> tuple[_Group, _Group, _Group]:
    kind = "passing" if fault.passing else "lasting"
    return (service, kind, fault.fingerprint), (service, kind), (kind,)


def _members(calls: Iterable[RecordedCall], brackets: dict[str, Bracket]) -> dict[_Group, list[Bracket]]:
    """The failures of each group, those of one spell once."""
    members: dict[_Group, dict[str, Bracket]] = defaultdict(dict)
    for call in calls:
        if (bracket := brackets.get(call.span_id)) is not None:
            for group in _groups_of(call.service, bracket.fault):
                members[group].setdefault(bracket.spell, bracket)
    return {group: list(spells.values()) for group, spells in members.items()}


def _group(members: dict[_Group, list[Bracket]], service: str, fault: Fault) -> _Group:
    groups = _groups_of(service, fault)
    return next((group for group in groups if len(members.get(group, ())) >= _ENOUGH), groups[-1])
