"""Breaker trips, false and late, against the health of each service as all attempts on it tell.

A *sick spell* is a time in which at least two different calls failed with a transient or
rate-limit fault and none worked. False: the breaker opened while no spell was under way.
Late: a spell saw many failed attempts before the breaker opened, or it never did.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch
from otel_toolerrors.analysis.replay.health import Spell, spells

from .finding import Cost, Evidence, Finding
from .query import rows

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FALSE_TRIPS = 2
_LATE = 20
"""Failed attempts in one spell before the breaker opens, from which it is late: twice its default minimum volume."""
_GRACE = 1.0
"""Seconds by which clocks and the order of spans may differ."""

_ATTEMPTS = """
SELECT trace_id, span_id, call_span_id, service, start, category
FROM attempts WHERE service IS NOT NULL AND tool IS NOT NULL AND service IN (
  SELECT service FROM faults WHERE category IN ('transient', 'rate_limited')
  UNION SELECT name FROM breaker_moves WHERE breaker = 'service'
)
ORDER BY service, start, span_id"""

_MOVES = """
SELECT trace_id, span_id, ts, name, to_state, from_state, calls, failures FROM breaker_moves
WHERE breaker = 'service' AND to_state IN ('open', 'closed') AND NOT coalesce(shadow, false)
ORDER BY name, ts, position"""

_REJECTED = "SELECT name, ts, state FROM rejections WHERE breaker = 'service' ORDER BY name, ts"


@dataclass(slots=True)
class _Service:
    """What is known of one service."""

    name: str
    attempts: list[Any]
    spells: list[Spell]
    moves: list[Any]
    rejected: list[float]

    def sick(self, at: float) -> bool:
        """Whether a spell was under way."""
        place = bisect_right(self.spells, at + _GRACE, key=lambda spell: spell.first) - 1
        return place >= 0 and at - _GRACE <= self.spells[place].last

    def closing(self, after: float) -> float:
        """When the breaker next closed; the end of the traces if it did not."""
        end = max(self.attempts[-1].start if self.attempts else after, after)
        return next((move.ts for move in self.moves if move.ts > after and move.to_state == "closed"), end)

    def rejections(self, since: float, until: float) -> int:
        """Attempts it refused in a time."""
        return bisect_left(self.rejected, until) - bisect_left(self.rejected, since)


def look_false(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for breakers that opened although the service was answering."""
    for service in _services(traces):
        opened = [move for move in service.moves if move.to_state == "open" and move.from_state == "closed"]
        false = [move for move in opened if not service.sick(move.ts)]
        if len(false) < _FALSE_TRIPS:
            continue
        refused = sum(service.rejections(move.ts, service.closing(move.ts)) for move in false)
        volume = 2 * max(move.calls for move in false)
        yield Finding(
            kind="breaker_false_trip",
            severity="medium" if refused else "low",
            title=f"{service.name}: the breaker opened {len(false)} times while the service answered",
            explanation=(
                f"At {len(false)} of {len(opened)} openings other calls had just worked: single operations failed, not "
                f"the service. {refused} attempts were refused that would have reached it."
            ),
            service=service.name,
            counts={"openings": len(opened), "false": len(false), "refused": refused},
            evidence=tuple(Evidence(move.trace_id, move.span_id) for move in false[: options.evidence]),
            patch=_patch(service.name, "minimum_calls", volume, f"{len(false)} of {len(opened)} openings were false"),
        )


def look_late(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for sick spells that went on under fire before the breaker opened."""
    for service in _services(traces):
        late = [(spell, count) for spell in service.spells if (count := _before_opening(service, spell)) >= _LATE]
        if not late:
            continue
        attempts = sum(count for _, count in late)
        starts = [one.start for one in service.attempts]
        shown = [service.attempts[bisect_left(starts, spell.first)] for spell, _ in late]
        yield Finding(
            kind="breaker_late_trip",
            severity="medium",
            title=f"{service.name}: {attempts} attempts failed on a sick service before the breaker opened",
            explanation=(
                f"In {len(late)} of {len(service.spells)} sick spells at least {_LATE} attempts failed, and none "
                "worked, "
                f"before the breaker opened or the spell ended: {attempts} attempts in all."
            ),
            service=service.name,
            counts={"spells": len(service.spells), "late": len(late), "attempts": attempts},
            cost=Cost(seconds=sum(spell.last - spell.first for spell, _ in late)),
            evidence=tuple(Evidence(one.trace_id, one.span_id) for one in shown[: options.evidence]),
            patch=_patch(service.name, "minimum_calls", 5, f"{attempts} attempts met a service that answered nobody"),
        )


def _before_opening(service: _Service, spell: Spell) -> int:
    """Failed attempts in the spell before the breaker opened."""
    opened = next(
        (m.ts for m in service.moves if m.to_state == "open" and spell.first <= m.ts <= spell.well), spell.well
    )
    starts = [one.start for one in service.attempts]
    return bisect_left(starts, min(opened, spell.well)) - bisect_left(starts, spell.first)


def _services(traces: Traces) -> Iterator[_Service]:
    attempts: dict[str, list[Any]] = defaultdict(list)
    for row in rows(traces, _ATTEMPTS):
        attempts[row.service].append(row)
    moves: dict[str, list[Any]] = defaultdict(list)
    for row in rows(traces, _MOVES):
        moves[row.name].append(row)
    rejected: dict[str, list[float]] = defaultdict(list)
    for row in rows(traces, _REJECTED):
        rejected[row.name].append(row.ts)
    for name in sorted(attempts):
        seen = [(one.start, one.call_span_id, one.category) for one in attempts[name]]
        yield _Service(name, attempts[name], list(spells(name, seen)), moves[name], rejected[name])


def _patch(service: str, key: str, value: float, reason: str) -> Patch:
    return Patch("policy", (Change(("services", service, "breaker", key), value, reason),))
