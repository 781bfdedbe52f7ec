"""Breaker trips, false and late, against the health of each service as all attempts on it tell.

A *sick spell* is a time in which at least two different calls failed with a transient
fault and none worked. False: the breaker opened while no spell was under way. Late: a
spell saw many failed attempts before the breaker opened, or it never did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from otel_toolerrors.analysis.patch import Change, Patch
from otel_toolerrors.analysis.replay.health import Spell

from .finding import Cost, Evidence, Finding
from .service_health import Service, services

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FALSE_TRIPS = 2
_LATE = 20
"""Failed attempts in one spell before the breaker opens, from which it is late: twice its default minimum volume."""


def look_false(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for breakers that opened although the service was answering."""
    for service in services(traces):
        opened = service.openings()
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
                f"At {len(false)} of {len(opened)} openings other calls had just worked, or what failed were single "
                f"operations that never work: not the service. {refused} attempts were refused that would have "
                "reached it."
            ),
            service=service.name,
            counts={"openings": len(opened), "false": len(false), "refused": refused},
            evidence=tuple(Evidence(move.trace_id, move.span_id) for move in false[: options.evidence]),
            patch=_patch(service.name, volume, f"{len(false)} of {len(opened)} openings were false"),
        )


def look_late(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for sick spells that went on under fire before the breaker opened."""
    for service in services(traces):
        late = [(spell, count) for spell in service.spells if (count := _before_opening(service, spell)) >= _LATE]
        if not late:
            continue
        attempts = sum(count for _, count in late)
        shown = [service.attempts[service.place(spell.first)] for spell, _ in late]
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
            patch=_patch(service.name, 5, f"{attempts} attempts met a service that answered nobody"),
        )


def _before_opening(service: Service, spell: Spell) -> int:
    """Failed attempts in the spell before the breaker opened."""
    openings = (move.ts for move in service.moves if move.to_state == "open")
    opened = next((ts for ts in openings if spell.first <= ts <= spell.well), spell.well)
    return service.place(opened) - service.place(spell.first)


def _patch(service: str, volume: int, reason: str) -> Patch:
    return Patch("policy", (Change(("services", service, "breaker", "minimum_calls"), volume, reason),))
