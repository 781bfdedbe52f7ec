"""The service breaker: leaves a sick service alone.

Closed, it counts attempts in a sliding window and opens on too many failures
(or slow ones, or a row of failures). Open, it rejects for ``cooldown`` seconds.
Then one probe may pass per break period: it closes the breaker or opens it
again. A generation number marks every admitted attempt, so that a late result
from before a transition cannot move the newer state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from otel_toolerrors.policy import BreakerPolicy
from otel_toolerrors.vocabulary import BreakerMoved, BreakerState

from .locks import new_lock

Report = Callable[[BreakerMoved], None]

_BUCKETS = 10
"""Resolution of the sliding window (Polly and Hystrix use ten as well)."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """The breaker said no."""

    state: BreakerState
    retry_after: float | None
    """Seconds until the next probe may pass; None while it is forced open."""


@dataclass(slots=True)
class _Bucket:
    start: float
    calls: int = 0
    failures: int = 0
    slow: int = 0


class ServiceBreaker:
    """Breaker of one service, shared by all runs; safe under threads. Time is passed in."""

    __slots__ = (
        "_buckets", "_counts", "_generation", "_lock", "_opened", "_policy", "_probed", "_row", "_slow_call", "_state",
        "_window", "free_ticket", "name",
    )  # fmt: skip

    def __init__(self, name: str, policy: BreakerPolicy) -> None:
        self.name = name
        self._policy = policy
        self._lock = new_lock()
        self._state: BreakerState = "closed"
        self._generation = 0
        self._opened = 0.0
        self._probed: float | None = None
        self._row = 0
        self._buckets: deque[_Bucket] = deque()
        self._counts: bool
        self._slow_call: float | None
        self._window: float
        self.free_ticket: int | None
        """A ticket that needs no lock, while the breaker is closed or disabled: the common case. None: ask `admit`."""
        self._look_ahead()

    @property
    def state(self) -> BreakerState:
        """The state, control included."""
        control = self._policy.control
        return control if control in ("forced_open", "disabled") else self._state

    def adopt(self, policy: BreakerPolicy) -> None:
        """Go on under another policy; state and counts are kept."""
        with self._lock:
            self._policy = policy
            self._look_ahead()

    def admit(self, now: float, report: Report) -> int | Rejection:
        """Ask to make an attempt: a ticket to settle with `record` or `release`, or a rejection."""
        if (ticket := self.free_ticket) is not None:
            return ticket
        with self._lock:
            if self._policy.control == "forced_open":
                return Rejection("forced_open", None)
            if self._state == "open" and now >= self._opened + self._policy.cooldown:
                report(self._move("half_open", "cooldown_over"))
            if self._state == "half_open" and self._may_probe(now):
                self._probed = now
                return self._generation
            if self._state == "closed" or self._policy.control == "shadow":
                return self._generation
            since = self._opened if self._probed is None else self._probed
            return Rejection(self._state, max(0.0, since + self._policy.cooldown - now))

    def _look_ahead(self) -> None:
        """Work out what every attempt asks: how its result counts, and whether it may begin without asking."""
        policy = self._policy
        control, self._slow_call, self._window = policy.control, policy.slow_call, policy.window
        self._counts = control not in ("disabled", "forced_open")
        free = control == "disabled" or (self._state == "closed" and control != "forced_open")
        self.free_ticket = self._generation if free else None

    def rejects(self, at: float) -> bool:
        """Whether an attempt at that time would be rejected, as things stand."""
        control = self._policy.control
        resting = control == "auto" and self._state == "open" and at < self._opened + self._policy.cooldown
        return control == "forced_open" or resting

    def record(self, ticket: int, *, ok: bool, seconds: float, now: float) -> BreakerMoved | None:
        """Settle a ticket: the attempt reached the service, which was well or not. Give the move that this caused."""
        if not self._counts:
            return None
        with self._lock:
            if ticket != self._generation:
                return None
            if self._state == "half_open":
                return self._move("closed", "probe_succeeded") if ok else self._open(now, "probe_failed")
            if self._state == "closed":
                slow = self._slow_call is not None and seconds >= self._slow_call
                self._count(now, ok=ok, slow=slow)
                # Only bad news can open it.
                if (slow or not ok) and (reason := self._verdict()):
                    return self._open(now, reason)
            return None

    def release(self, ticket: int) -> None:
        """Give a ticket back: the attempt says nothing about the service (cancelled, or refused before it was sent)."""
        with self._lock:
            if ticket == self._generation:
                self._probed = None

    def _may_probe(self, now: float) -> bool:
        # A probe that never came back must not keep the breaker half-open for ever.
        return self._probed is None or now >= self._probed + self._policy.cooldown

    def _count(self, now: float, *, ok: bool, slow: bool) -> None:
        window, buckets = self._window, self._buckets
        while buckets and buckets[0].start + window <= now:
            buckets.popleft()
        if not buckets or buckets[-1].start + window / _BUCKETS <= now:
            buckets.append(_Bucket(now))
        bucket = buckets[-1]
        bucket.calls += 1
        bucket.failures += not ok
        bucket.slow += slow
        self._row = 0 if ok else self._row + 1

    def _verdict(self) -> str | None:
        policy, (calls, failures, slow) = self._policy, self._totals()
        if policy.mode == "consecutive":
            if self._row >= policy.consecutive_failures:
                return "consecutive"
        elif calls >= policy.minimum_calls and failures >= policy.failure_rate * calls:
            return "failure_rate"
        if policy.slow_call is not None and calls >= policy.minimum_calls and slow >= policy.slow_call_rate * calls:
            return "slow_calls"
        return None

    def _totals(self) -> tuple[int, int, int]:
        buckets = self._buckets
        return sum(b.calls for b in buckets), sum(b.failures for b in buckets), sum(b.slow for b in buckets)

    def _open(self, now: float, reason: str) -> BreakerMoved:
        self._opened = now
        return self._move("open", reason)

    def _move(self, to: BreakerState, reason: str) -> BreakerMoved:
        calls, failures, _ = self._totals()
        row = self._policy.mode == "consecutive" and to == "open"
        move = BreakerMoved(
            breaker="service", name=self.name, from_state=self._state, to_state=to, reason=reason,
            failures=self._row if row else failures, calls=calls,
            cooldown=self._policy.cooldown if to == "open" else None, shadow=self._policy.control == "shadow",
        )  # fmt: skip
        self._state = to
        self._generation += 1
        self._probed = None
        self._row = 0
        self._buckets.clear()
        self._look_ahead()
        return move
