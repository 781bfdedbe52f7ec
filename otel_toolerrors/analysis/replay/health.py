"""How well each service was, as far as the attempts on it tell."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from otel_toolerrors.faults import Fault

from .recorded import RecordedCall, Try

SICK = frozenset({"transient", "rate_limited"})
"""Faults by which a service shows that it is down or has too much to do."""

_WITNESSES = 2
"""Different calls that must fail, and none succeed, before a spell is the service's and not one argument's."""


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which nothing worked on a service."""

    service: str
    first: float
    """The first failed attempt."""
    last: float
    """The last failed attempt."""
    well: float
    """The first attempt after it that worked, or infinity."""
    calls: int
    """Different calls that failed in it."""
    attempts: int
    fault: Fault
    """The last fault."""


@dataclass(slots=True)
class Health:
    """The spells of every service, in order."""

    spells: dict[str, list[Spell]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, tuple[list[float], list[Fault | None]]] = field(default_factory=dict)
    """For every service, when attempts on it began, and their faults."""

    def spell(self, service: str, at: float) -> Spell | None:
        """The spell around a moment, with the unobserved time after its last failure."""
        spells = self.spells.get(service, [])
        place = bisect_right(spells, at, key=lambda spell: spell.first) - 1
        return spells[place] if place >= 0 and at < spells[place].well else None

    def before(self, service: str, at: float) -> tuple[float, Fault | None] | None:
        """The last attempt on the service that began before a moment: when, and its fault."""
        times, faults = self.seen.get(service, ([], []))
        place = bisect_left(times, at) - 1
        return (times[place], faults[place]) if place >= 0 else None


def health(calls: Iterable[RecordedCall]) -> Health:
    """Reconstruct the spells from every attempt that was made."""
    seen: dict[str, list[tuple[float, str, Try]]] = defaultdict(list)
    for call in calls:
        for one in call.tries:
            if one.tool == call.tool:
                seen[call.service].append((one.start, call.span_id, one))
    found = Health()
    for service, tries in seen.items():
        tries.sort(key=lambda entry: entry[:2])
        found.seen[service] = ([entry[0] for entry in tries], [entry[2].fault for entry in tries])
        found.spells[service] = list(_spells(service, tries))
    return found


def _spells(service: str, tries: list[tuple[float, str, Try]]) -> Iterable[Spell]:
    failing: list[tuple[float, str, Fault]] = []
    for start, span, one in tries:
        if one.fault is not None and one.fault.category in SICK:
            failing.append((start, span, one.fault))
        elif one.fault is None or one.fault.category not in ("bug", "unknown", "cancelled"):
            yield from _spell(service, failing, start)
            failing = []
    yield from _spell(service, failing, inf)


def _spell(service: str, failing: list[tuple[float, str, Fault]], well: float) -> Iterable[Spell]:
    calls = len({span for _, span, _ in failing})
    if calls >= _WITNESSES:
        yield Spell(service, failing[0][0], failing[-1][0], well, calls, len(failing), failing[-1][2])
