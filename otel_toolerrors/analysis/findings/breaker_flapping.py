"""Breaker flapping: a service breaker that closes and opens again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch

from .finding import Evidence, Finding
from .service_health import Service, services

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_OPENINGS = 3
"""Openings from closed, each soon after the last closing, that make it flapping."""
_SOON = 2.0
"""A closing holds if it lasts longer than this many cooldowns."""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for breakers that reopened on a sick service soon after they had closed, several times."""
    for service in services(traces):
        reopened = [move for move in _reopened(service) if service.sick(move.ts)]
        if len(reopened) >= _OPENINGS:
            yield _finding(service.name, reopened, options)


def _reopened(service: Service) -> Iterator[Any]:
    """Openings from closed that came soon after the breaker had closed."""
    closed = None
    for move in service.moves:
        if move.to_state == "closed":
            closed = move
        elif move.from_state == "closed":
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
