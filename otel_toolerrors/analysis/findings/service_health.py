"""Each service's health and its breaker's moves, side by side."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from otel_toolerrors.analysis.replay.health import Seen, Spell, own_faults, spells
from otel_toolerrors.vocabulary import Category

from .query import once, rows

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

_GRACE = 1.0
"""Seconds by which clocks and the order of spans may differ."""
_DOWN: Final[AbstractSet[Category]] = {"transient"}
"""What a breaker guards against: a service with too much to do is not a sick one, and pacing answers it."""

_ATTEMPTS = """
WITH made AS (
  SELECT a.trace_id, a.span_id, a.call_span_id, a.service, a.start, a.category, f.fingerprint
  FROM attempts a LEFT JOIN faults f
    ON f.trace_id = a.trace_id AND f.call_span_id = a.call_span_id AND f.attempt = a.attempt AND f.tool = a.tool
  WHERE a.call_span_id IS NOT NULL AND a.service IN (
    SELECT service FROM faults WHERE category = 'transient'
    UNION SELECT name FROM breaker_moves WHERE breaker = 'service'
  )
),
placed AS (
  SELECT *, lag(category) OVER turn AS before, lead(category) OVER turn AS after, lead(start) OVER turn AS later
  FROM made WINDOW turn AS (PARTITION BY service ORDER BY start, span_id)
)
SELECT trace_id, span_id, call_span_id, service, start, category, fingerprint FROM placed
WHERE category IS NOT NULL OR before IS NOT NULL OR after IS NOT NULL OR later IS NULL
  OR call_span_id IN (SELECT call_span_id FROM made WHERE category IS NOT NULL)
ORDER BY service, start, span_id"""
"""All but what tells nothing: attempts that worked at once, between others that worked."""

_MOVES = """
SELECT trace_id, span_id, ts, name, to_state, from_state, calls, failures, cooldown FROM breaker_moves
WHERE breaker = 'service' AND to_state IN ('open', 'closed') AND NOT coalesce(shadow, false)
ORDER BY name, ts, position"""

_REJECTED = "SELECT name, ts FROM rejections WHERE breaker = 'service' ORDER BY name, ts"


@dataclass(slots=True)
class Service:
    """What is known of one service."""

    name: str
    attempts: list[Any]
    spells: list[Spell]
    moves: list[Any]
    """Its breakers' openings and closings."""
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
        """Attempts that a breaker refused in a time."""
        return bisect_left(self.rejected, until) - bisect_left(self.rejected, since)

    def place(self, at: float) -> int:
        """How many attempts began before a moment."""
        return bisect_left(self.attempts, at, key=lambda attempt: attempt.start)

    def openings(self) -> list[Any]:
        """Moves from closed to open."""
        return [move for move in self.moves if move.to_state == "open" and move.from_state == "closed"]


@once
def services(traces: Traces) -> list[Service]:
    """Put together what the traces tell of every service that failed or has a breaker that moved."""
    attempts = _by(rows(traces, _ATTEMPTS), "service")
    moves, rejected = _by(rows(traces, _MOVES), "name"), _by(rows(traces, _REJECTED), "name")
    return [
        Service(name, attempts[name], _spells(name, attempts[name]), moves[name], [one.ts for one in rejected[name]])
        for name in sorted(attempts)
    ]


def _spells(name: str, attempts: list[Any]) -> list[Spell]:
    seen = [Seen(one.start, one.call_span_id, one.category, one.fingerprint) for one in attempts]
    own = own_faults(seen)
    return list(spells(name, (_silenced(one) for one in seen if one.fingerprint not in own), _DOWN))


def _silenced(one: Seen) -> Seen:
    """A rate limit is no sign of health either."""
    return one._replace(category="unknown") if one.category == "rate_limited" else one


def _by(found: list[Any], key: str) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in found:
        groups[getattr(row, key)].append(row)
    return groups
