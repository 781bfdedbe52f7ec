"""How well each service was, as far as the attempts on it tell."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import Category

from .recorded import RecordedCall

SICK: frozenset[Category] = frozenset({"transient", "rate_limited"})
"""Faults by which a service shows that it is down or has too much to do."""

_SILENT: frozenset[Category] = frozenset({"bug", "unknown", "cancelled"})
"""Faults that say nothing about the service. Every other one is an answer."""

_WITNESSES = 2
"""Different calls that must fail, and none succeed, before a spell is the service's and not one argument's."""

Seen = tuple[float, str, Category | None]
"""An attempt on a service: when it began, the call it belongs to, and the category of its fault."""


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


def spells(service: str, seen: Iterable[Seen]) -> Iterator[Spell]:
    """Find the spells among the attempts on one service, given in order of time."""
    failing: list[tuple[float, str]] = []
    for start, call, category in seen:
        if category in SICK:
            failing.append((start, call))
        elif category not in _SILENT:
            yield from _spell(service, failing, start)
            failing = []
    yield from _spell(service, failing, inf)


def _spell(service: str, failing: list[tuple[float, str]], well: float) -> Iterator[Spell]:
    if len({call for _, call in failing}) >= _WITNESSES:
        yield Spell(service, failing[0][0], failing[-1][0], well, len(failing))


class Health:
    """The spells of every service, and the attempts they were read from, without faults that are a call's own."""

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        by_service: dict[str, list[RecordedCall]] = defaultdict(list)
        for call in calls:
            by_service[call.service].append(call)
        self.spells: dict[str, list[Spell]] = {}
        self.own = {service: own_faults(made) for service, made in by_service.items()}
        """Fingerprints of faults that say nothing of the service."""
        self._starts: dict[str, list[float]] = {}
        self._faults: dict[str, list[Fault | None]] = {}
        for service, made in by_service.items():
            tries = ((one.start, call.span_id, one.fault) for call in made for one in call.own())
            told = [one for one in tries if one[2] is None or one[2].fingerprint not in self.own[service]]
            told.sort(key=lambda one: one[:2])
            self._starts[service] = [start for start, _, _ in told]
            self._faults[service] = [fault for _, _, fault in told]
            seen = ((start, call, fault.category if fault else None) for start, call, fault in told)
            self.spells[service] = list(spells(service, seen))

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


def own_faults(calls: Iterable[RecordedCall]) -> frozenset[str]:
    """Find the fingerprints of faults that belong to a call and not to its service, as a 500 for one broken template.

    They show by calls that keep failing while others succeed between their attempts, more often than by calls that
    recover.
    """
    made = list(calls)
    well = sorted(one.start for call in made for one in call.own() if one.fault is None)
    balance: Counter[str] = Counter()
    for call in made:
        own = call.own()
        failed = [one for one in own if one.fault is not None]
        if not failed or failed[0].fault is None or failed[0].fault.category not in SICK:
            continue
        between = bisect_left(well, failed[-1].start) > bisect_right(well, failed[0].start)
        balance[failed[0].fault.fingerprint] += between - (own[-1].fault is None)
    return frozenset(fingerprint for fingerprint, surplus in balance.items() if surplus > 0)
