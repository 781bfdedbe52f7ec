"""The numbers that the search may move, and what it tries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from otel_toolerrors.analysis.patch import Change, document
from otel_toolerrors.analysis.replay import Replayer
from otel_toolerrors.policy import Policy

_FEWEST_FAULTS = 5
"""Calls that must have met a passing fault before the numbers of their tool and service are touched."""

_RETRY: dict[str, tuple[float, ...]] = {
    "max_attempts": (1, 2, 3, 4, 5, 6, 8),
    "base_delay": (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    "max_delay": (8.0, 32.0, 120.0),
    "total_timeout": (30.0, 120.0, 300.0),
}
_BREAKER: dict[str, tuple[float, ...]] = {
    "minimum_calls": (5, 10, 20),
    "failure_rate": (0.3, 0.5, 0.8),
    "cooldown": (5.0, 15.0, 30.0, 60.0, 120.0),
}
_BUDGET: dict[str, tuple[float, ...]] = {
    "capacity": (50.0, 150.0, 500.0),
}

_PATIENT = {"max_attempts": 6, "base_delay": 2.0, "cooldown": 15.0}
"""A second place to begin: longer waits pay only together with more attempts and a breaker that lets them pass."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One number."""

    path: tuple[str, ...]
    values: tuple[float, ...]

    def read(self, policy: Policy) -> float:
        """What a policy says."""
        table, name, section, key = self.path
        if table == "tools":
            return float(getattr(policy.retry_for(name, "main_agent"), key))
        resolved = policy.breaker_for(name) if section == "breaker" else policy.budget_for(name)
        return float(getattr(resolved, key))


@dataclass(frozen=True, slots=True)
class Panel:
    """The knobs of one service and of the tools that call it: they act together."""

    service: str
    knobs: tuple[Knob, ...]

    def patient(self) -> dict[tuple[str, ...], float]:
        """Settings to begin from, besides those in force."""
        return {knob.path: _PATIENT[knob.path[-1]] for knob in self.knobs if knob.path[-1] in _PATIENT}


def panels(replayer: Replayer) -> list[Panel]:
    """The services whose calls met enough passing faults to say something."""
    met: Counter[tuple[str, str]] = Counter()
    for script in replayer.scripts:
        if script.bracket is not None and script.bracket.fault.passing:
            met[script.recorded.service, script.recorded.tool] += 1
    tools: dict[str, list[str]] = {}
    for (service, tool), times in sorted(met.items()):
        if times >= _FEWEST_FAULTS:
            tools.setdefault(service, []).append(tool)
    return [Panel(service, tuple(_knobs(service, names))) for service, names in tools.items()]


def _knobs(service: str, tools: list[str]) -> Iterator[Knob]:
    for tool in tools:
        yield from (Knob(("tools", tool, "retry", key), grid) for key, grid in _RETRY.items())
    yield from (Knob(("services", service, "breaker", key), grid) for key, grid in _BREAKER.items())
    yield from (Knob(("services", service, "budget", key), grid) for key, grid in _BUDGET.items())


def changed(policy: Policy, changes: Iterable[Change]) -> Policy:
    """A policy with some keys set anew."""
    return Policy.model_validate(_overlaid(policy.model_dump(exclude_unset=True), document(changes)))


def _overlaid(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _overlaid(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged
