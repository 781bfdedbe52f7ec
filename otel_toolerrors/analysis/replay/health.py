"""How well each service was, as far as the attempts on it tell."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set as AbstractSet
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import Category

from .recorded import RecordedCall, Try

SICK: frozenset[Category] = frozenset({"transient", "rate_limited"})
"""Faults by which a service shows that it is down or has too much to do."""

_SILENT: frozenset[Category] = frozenset({"bug", "unknown", "cancelled"})
"""Faults that say nothing about the service. Every other one is an answer."""

_WITNESSES = 2
"""Different calls that must fail, and none succeed, before a spell is the service's and not one argument's."""


class Seen(NamedTuple):
    """An attempt on a service."""

    start: float
    call: str
    category: Category | None
    """None: it worked."""
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which nothing worked on a service."""

    service: str
    first: float
    """The first failed attempt."""
    last: float
    """The last failed attempt."""
    well: float
    """The first attempt after it that got an answer, or infinity."""
    attempts: int


def spells(service: str, seen: Iterable[Seen], sick: AbstractSet[Category] = SICK) -> Iterator[Spell]:
    """Find the spells among the attempts on one service, given in order of time."""
    failing: list[Seen] = []
    for one in seen:
        if one.category in sick:
            failing.append(one)
        elif failing and one.category not in _SILENT:
            yield from _spell(service, failing, one.start)
            failing = []
    yield from _spell(service, failing, inf)


def _spell(service: str, failing: list[Seen], well: float) -> Iterator[Spell]:
    if len({one.call for one in failing}) >= _WITNESSES:
        yield Spell(service, failing[0].start, failing[-1].start, well, len(failing))


def own_faults(seen: Iterable[Seen]) -> frozenset[str]:
    """Find the fingerprints of faults that belong to a call and not to its service, as a 500 for one broken template.

    They show by calls that keep failing while others succeed between their attempts, more often than by calls that
    recover.
    """
    calls: dict[str, list[Seen]] = defaultdict(list)
    for one in seen:
        calls[one.call].append(one)
    well = sorted(one.start for made in calls.values() for one in made if one.category is None)
    balance: Counter[str] = Counter()
    for made in calls.values():
        failed = [one for one in made if one.category in SICK]
        if failed and failed[0].fingerprint is not None:
            between = bisect_left(well, failed[-1].start) > bisect_right(well, failed[0].start)
            balance[failed[0].fingerprint] += between - (made[-1].category is None)
    return frozenset(fingerprint for fingerprint, surplus in balance.items() if surplus > 0)


class Health:
    """The spells of every service, and the attempts they were read from, without faults that are a call's own."""

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        by_service: dict[str, list[tuple[Seen, Fault | None]]] = defaultdict(list)
        for call in calls:
            by_service[call.service] += [(_seen(call, one), one.fault) for one in call.own()]
        self.spells: dict[str, list[Spell]] = {}
        self.own: dict[str, frozenset[str]] = {}
        """Fingerprints of faults that say nothing of the service."""
        self._starts: dict[str, list[float]] = {}
        self._faults: dict[str, list[Fault | None]] = {}
        for service, tries in by_service.items():
            tries.sort(key=lambda one: one[0][:2])
            own = self.own[service] = own_faults(seen for seen, _ in tries)
            told = [(seen, fault) for seen, fault in tries if seen.fingerprint not in own]
            self._starts[service] = [seen.start for seen, _ in told]
            self._faults[service] = [fault for _, fault in told]
            self.spells[service] = list(spells(service, (seen for seen, _ in told)))

    def spell(self, service: str, at: float) -> Spell | None:
        """The spell around a moment, with the unobserved time after its last failure."""
        known = self.spells.get(service, [])
        place = bisect_right(known, at, key=lambda spell: spell.first) - 1
        return known[place] if place >= 0 and at < known[place].well else None

    def before(self, service: str, at: float) -> tuple[float, Fault | None] | None:
        """The last attempt on the service that began before a moment: when, and its fault."""
        starts = self._starts.get(service, [])
        place = bisect_left(starts, at) - 1
        return (starts[place], self._faults[service][place]) if place >= 0 else None

    def answered(self, service: str, after: float) -> float:
        """When an attempt on the service first got an answer after a moment, or infinity."""
        starts, faults = self._starts.get(service, []), self._faults.get(service, [])
        later = range(bisect_right(starts, after), len(starts))
        return next((starts[n] for n in later if _is_answer(faults[n])), inf)


def _is_answer(fault: Fault | None) -> bool:
    return fault is None or fault.category not in SICK | _SILENT


def _seen(call: RecordedCall, one: Try) -> Seen:
    if one.fault is None:
        return Seen(one.start, call.span_id, None, None)
    return Seen(one.start, call.span_id, one.fault.category, one.fault.fingerprint)
