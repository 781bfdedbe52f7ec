"""The retry budget: how many retries a service is worth, whoever makes them."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolerrors.policy import BudgetPolicy

from .locks import new_lock


@dataclass(frozen=True, slots=True)
class Hold:
    """Tokens taken for one retry, from the moment it is scheduled: waiting retries count."""

    tokens: float


class RetryBudget:
    """Token bucket of one service, shared by all runs; safe under threads."""

    __slots__ = ("_full", "_lock", "_policy", "_tokens", "_under_way")

    def __init__(self, policy: BudgetPolicy) -> None:
        self._policy = policy
        self._tokens = self._full = policy.capacity
        self._under_way = 0
        self._lock = new_lock()

    @property
    def tokens(self) -> float:
        """Tokens left."""
        return self._tokens

    def adopt(self, policy: BudgetPolicy) -> None:
        """Go on under another policy; what is left stays, up to the new capacity."""
        with self._lock:
            self._policy = policy
            self._full = policy.capacity
            self._tokens = min(self._tokens, self._full)

    def take(self, *, throttled: bool) -> Hold | None:
        """Ask for one retry; None when it is not worth one. Settle with `settle`."""
        cost = self._policy.throttle_cost if throttled else self._policy.transient_cost
        with self._lock:
            if self._tokens < cost and self._under_way >= self._policy.floor:
                return None
            paid = min(cost, self._tokens)
            self._tokens -= paid
            self._under_way += 1
            return Hold(paid)

    def settle(self, hold: Hold, *, ok: bool) -> None:
        """The retry is over; a success pays its tokens back."""
        with self._lock:
            self._under_way -= 1
            if ok:
                self._tokens = min(self._full, self._tokens + hold.tokens)

    def credit(self) -> None:
        """Pay in for a call that worked at once."""
        if self._tokens < self._full:  # a full bucket takes no lock
            with self._lock:
                self._tokens = min(self._full, self._tokens + self._policy.success_credit)
