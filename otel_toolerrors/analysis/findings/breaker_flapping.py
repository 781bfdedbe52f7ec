"""Breaker flapping: a service breaker that closes and opens again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch

from .finding import Evidence, Finding
from .query import rows

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_OPENINGS = 3
"""Openings from closed, each soon after the last closing, that make it flapping."""
_SOON = 2.0
"""A closing holds if it lasts longer than this many cooldowns."""

_QUERY = """
SELECT trace_id, span_id, ts, name, from_state, to_state, cooldown, coalesce(service_name, '') AS fleet
FROM breaker_moves WHERE breaker = 'service' AND NOT coalesce(shadow, false)
ORDER BY fleet, name, ts, position"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for breakers that reopened soon after they had closed, several times."""
    moves: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in rows(traces, _QUERY):
        moves[row.fleet, row.name].append(row)
    for (_, service), history in sorted(moves.items()):
        reopened = list(_reopened(history))
        if len(reopened) >= _OPENINGS:
            yield _finding(service, reopened, options)


def _reopened(history: list[Any]) -> Iterator[Any]:
    """Openings from closed that came soon after the breaker had closed."""
    closed = None
    for move in history:
        if move.to_state == "closed":
            closed = move
        elif move.to_state == "open" and move.from_state == "closed":
            if closed is not None and move.ts - closed.ts <= _SOON * (move.cooldown or 0.0):
                yield move
            closed = None


def _finding(service: str, reopened: list[Any], options: Options) -> Finding:
    cooldown = max(move.cooldown or 0.0 for move in reopened)
    return Finding(
        kind="breaker_flapping",
        severity="medium",
        title=f"{service}: the breaker closes too early, {len(reopened)} times",
        explanation=(
            f"{len(reopened)} times one good probe closed the breaker, and it opened again within {_SOON:.0f} "
            f"cooldowns ({cooldown:g} s each). The service was not well yet; each round sends it a burst of calls "
            "that fail."
        ),
        service=service,
        counts={"reopened": len(reopened)},
        evidence=tuple(Evidence(move.trace_id, move.span_id) for move in reopened[: options.evidence]),
        patch=_longer(service, 2 * cooldown, len(reopened)) if cooldown else None,
    )


def _longer(service: str, cooldown: float, times: int) -> Patch:
    reason = f"it reopened {times} times soon after it had closed"
    return Patch("policy", (Change(("services", service, "breaker", "cooldown"), cooldown, reason),))
