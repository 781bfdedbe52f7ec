"""What the runs share about each service."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolerrors.policy import Policy

from .breaker import ServiceBreaker
from .budget import RetryBudget
from .locks import new_lock
from .pacing import Pacer


@dataclass(frozen=True, slots=True)
class Service:
    """One service: its breaker, its retry budget, its pacing."""

    breaker: ServiceBreaker
    budget: RetryBudget
    pacer: Pacer


class Services:
    """The services of a layer, made on first use; safe under threads."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._lock = new_lock()
        self._known: dict[str, Service] = {}

    def get(self, name: str) -> Service:
        """Find a service by its key."""
        found = self._known.get(name)
        return found or self._make(name)

    def adopt(self, policy: Policy) -> None:
        """Go on under another policy; breakers, budgets and pacing keep their state."""
        with self._lock:
            self._policy = policy
            for name, service in self._known.items():
                service.breaker.adopt(policy.breaker_for(name))
                service.budget.adopt(policy.budget_for(name))

    def _make(self, name: str) -> Service:
        with self._lock:
            if name not in self._known:
                policy = self._policy
                self._known[name] = Service(
                    ServiceBreaker(name, policy.breaker_for(name)), RetryBudget(policy.budget_for(name)), Pacer()
                )
            return self._known[name]
