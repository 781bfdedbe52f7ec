"""How well each service was, as far as the attempts on it tell."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
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
    """For every service, when attempts on it began, and their faults; without those that are one argument's."""
    own: dict[str, frozenset[str]] = field(default_factory=dict)
    """For every service, fingerprints of faults that say nothing of it: see `_own_faults`."""

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
        own = found.own[service] = _own_faults(tries)
        tries = [entry for entry in tries if entry[2].fault is None or entry[2].fault.fingerprint not in own]
        found.seen[service] = ([entry[0] for entry in tries], [entry[2].fault for entry in tries])
        found.spells[service] = list(_spells(service, tries))
    return found


def _own_faults(tries: list[tuple[float, str, Try]]) -> frozenset[str]:
    """Fingerprints of faults that belong to a call and not to its service, such as a 500 for one broken template.

    They show by calls that keep failing while others succeed between their attempts, more often than by calls that
    recover on a retry.
    """
    well = [(start, span) for start, span, one in tries if one.fault is None]
    failed: dict[tuple[str, str], list[float]] = defaultdict(list)
    for start, span, one in tries:
        if one.fault is not None and one.fault.category in SICK:
            failed[one.fault.fingerprint, span].append(start)
    recovered = {span for _, span in well}
    balance: Counter[str] = Counter()
    for (fingerprint, span), starts in failed.items():
        between = bisect_left(well, (starts[-1],)) > bisect_right(well, (starts[0], "~"))
        balance[fingerprint] += (span in recovered) - between
    return frozenset(fingerprint for fingerprint, excess in balance.items() if excess < 0)


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
