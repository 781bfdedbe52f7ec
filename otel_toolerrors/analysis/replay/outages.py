"""When a failing call would have worked: read off the trace where it tells, drawn from a model where not.

Every failing call has one hidden moment, its *recovery*: attempts before it fail,
later ones work. The trace brackets it, between the last attempt that failed and
the first that worked; where other calls on the service failed or worked at about
that time, they narrow the bracket. A replayed attempt outside the bracket has its
answer from the trace. Inside, it depends on a draw.

How long failures lasted is drawn for all of one service and fingerprint together, each given its bracket and the
others (see ``durations``). One that ended while nobody looked, as behind an open breaker, mostly ends
where others did that were better seen. A failure that nobody saw end is bracketed by infinity, and the model promises
nothing from waiting longer than anyone was seen to wait with success. Calls in one spell of a service recover together
and count once. Each replica draws anew, so that the spread between replicas holds what the trace leaves open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from otel_toolerrors.analysis.statistics import seeded
from otel_toolerrors.faults import Fault

from .durations import Interval, drawn_together
from .health import SICK, Health, Spell
from .recorded import RecordedCall, Recording

_ENOUGH = 5
"""Brackets that a group needs before it speaks for itself; else the service does, else everything."""

_Group = tuple[str, ...]
"""Failures whose durations tell of each other."""

_Members = dict[_Group, dict[str, "Bracket"]]
"""The spells of each group, by name."""


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
        self._spells = {bracket.spell: bracket for bracket in self.brackets.values()}
        self._members = _members(recording.calls, self.brackets)
        self._groups = _groups(recording.calls, self.brackets, self._members)
        self._seed = seed
        self._drawn: dict[int, dict[str, float]] = {}

    def recoveries(self, replica: int) -> dict[str, float]:
        """The moment each spell ends, in one replica, by its name."""
        if replica not in self._drawn:
            lasted = {group: self._lasted(group, replica) for group in dict.fromkeys(self._groups.values())}
            self._drawn[replica] = {
                spell: self._spells[spell].onset + lasted[group][spell] for spell, group in self._groups.items()
            }
        return self._drawn[replica]

    def around(self, service: str, at: float) -> Bracket | None:
        """What is known of the service's spell at a moment."""
        spell = self.health.spell(service, at)
        return None if spell is None else self._spells.get(_name(service, spell.first))

    def _lasted(self, group: _Group, replica: int) -> dict[str, float]:
        """Seconds that each spell of a group lasted, in one replica."""
        members = self._members[group]
        brackets = [one.lasted for one in members.values()]
        return dict(zip(members, drawn_together(brackets, seeded(self._seed, replica, *group)), strict=True))


def _brackets(calls: Sequence[RecordedCall], known: Health) -> dict[str, Bracket]:
    brackets = {}
    for call in calls:
        bracket = _own(call) if call.own() else _rested(call, known)
        if bracket is not None:
            own = bracket.fault.fingerprint in known.own.get(call.service, ())
            spell = None if own else known.spell(call.service, bracket.onset)
            brackets[call.span_id] = _narrowed(bracket, spell)
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
    return Bracket(onset, onset, known.answered(call.service, onset), fault, _name(call.service, onset))


def _narrowed(bracket: Bracket, spell: Spell | None) -> Bracket:
    """Take in what other calls saw of the same spell."""
    if spell is None or bracket.fault.category not in SICK:
        return bracket
    name = _name(spell.service, spell.first)
    return replace(bracket, onset=spell.first, failed=spell.last, well=spell.well, spell=name)


def _name(service: str, onset: float) -> str:
    return f"{service} {onset:.6f}"


def _groups_of(service: str, fault: Fault) -> tuple[_Group, _Group, _Group]:
    kind = "passing" if fault.passing else "lasting"
    return (service, kind, fault.fingerprint), (service, kind), (kind,)


def _members(calls: Iterable[RecordedCall], brackets: dict[str, Bracket]) -> _Members:
    members: _Members = defaultdict(dict)
    for call in calls:
        if (bracket := brackets.get(call.span_id)) is not None:
            for group in _groups_of(call.service, bracket.fault):
                members[group].setdefault(bracket.spell, bracket)
    return members


def _groups(calls: Iterable[RecordedCall], brackets: dict[str, Bracket], members: _Members) -> dict[str, _Group]:
    """The group that each spell is drawn with: its first call's, so that all its calls recover together."""
    groups: dict[str, _Group] = {}
    for call in calls:
        if (bracket := brackets.get(call.span_id)) is not None and bracket.spell not in groups:
            wider = _groups_of(call.service, bracket.fault)
            groups[bracket.spell] = next((group for group in wider if len(members[group]) >= _ENOUGH), wider[-1])
    return groups
