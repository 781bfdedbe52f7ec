"""The storm guard: after a rate limit, concurrent calls to a service wait together."""

from __future__ import annotations

from random import Random

from .locks import new_lock

_SPREAD = 0.1
"""Waiters leave over an extra tenth of the wait, so that they do not return as one."""


class Pacer:
    """Pacing of one service, shared by all runs; safe under threads. Time is passed in."""

    __slots__ = ("_lock", "_since", "until")

    def __init__(self) -> None:
        self._lock = new_lock()
        self._since = 0.0
        self.until = 0.0
        """When a call that is made need not wait any more."""

    def limited(self, now: float, wait: float) -> None:
        """The service said: not before ``wait`` seconds from now."""
        with self._lock:
            if now + wait > self.until:
                self._since, self.until = now, now + wait

    def wait(self, now: float, random: Random) -> float:
        """Seconds that a call made now has to wait; 0 when the way is free."""
        if now >= self.until:
            return 0.0
        with self._lock:
            left, whole = self.until - now, self.until - self._since
        return left + random.uniform(0, _SPREAD * whole)
