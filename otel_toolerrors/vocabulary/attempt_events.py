"""Events of an attempt: what failed, whether it is repeated, and what stood in the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from . import shared_fields
from .attributes import attribute
from .words import BreakerKind, BreakerState, Category, Foresight, RefusalReason, RetryBasis, SideEffects


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultClassified:
    """An attempt failed, and the classifier said what the failure is."""

    NAME: ClassVar[str] = "toolerrors.fault.classified"
    VIEW: ClassVar[str] = "faults"

    tool: str = shared_fields.tool()
    attempt: int = shared_fields.attempt()
    category: Category = shared_fields.category()
    code: str = shared_fields.code()
    passing: bool = attribute(
        "toolerrors.passing", "Whether the same call may succeed later, side effects aside.", True, cardinality="low"
    )
    retryable: bool = attribute(
        "toolerrors.retryable", "Whether repeating it is also safe for the declared effects.", True, cardinality="low"
    )
    side_effects: SideEffects = attribute(
        "toolerrors.side_effects", "What is known about whether the call took effect.", "unknown", cardinality="low"
    )
    fingerprint: str = shared_fields.fingerprint()
    message: str = attribute(
        "toolerrors.message", "The error's text: redacted, bounded.", "read timed out after 5 s", cardinality="high"
    )
    exception_type: str | None = attribute(
        "exception.type", "Qualified class name; absent for in-band errors.", "httpx.ReadTimeout", default=None
    )
    http_status: int | None = attribute(
        "http.response.status_code", "Status of the HTTP answer behind the error.", 503, default=None
    )
    retry_after: float | None = attribute(
        "toolerrors.retry_after", "How long the server asked to wait.", 12.0, unit="s", cardinality="high", default=None
    )
    signal: str = attribute(
        "toolerrors.signal", "The signal that decided: type, status, errno, header, code, chain, message, …", "status",
        cardinality="low",
    )  # fmt: skip
    strength: str = attribute(
        "toolerrors.signal.strength", "How far that signal can be trusted.", "strong", cardinality="low"
    )
    would: Foresight | None = attribute(
        "toolerrors.would", "In observe mode: what the policy would have done next.", "retry", cardinality="low",
        default=None,
    )  # fmt: skip
    dissent: str | None = attribute(
        "toolerrors.signal.dissent", "Signals that voted for another category, as ``signal=category`` pairs.",
        "status=permission,header=rate_limited", default=None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled:
    """The engine will repeat the call after a delay."""

    NAME: ClassVar[str] = "toolerrors.retry.scheduled"
    VIEW: ClassVar[str] = "retries"

    tool: str = shared_fields.tool()
    attempt: int = shared_fields.attempt()
    delay: float = attribute(
        "toolerrors.retry.delay", "Wait before the next attempt.", 0.61, unit="s", cardinality="high"
    )
    basis: RetryBasis = attribute("toolerrors.retry.basis", "What chose the delay.", "backoff", cardinality="low")
    code: str = shared_fields.code()
    fingerprint: str = shared_fields.fingerprint()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRefused:
    """The engine will not repeat the call, and why."""

    NAME: ClassVar[str] = "toolerrors.retry.refused"
    VIEW: ClassVar[str] = "retries"

    tool: str = shared_fields.tool()
    attempt: int = shared_fields.attempt()
    reason: RefusalReason = attribute(
        "toolerrors.retry.reason", "Why the call is not repeated.", "effects", cardinality="low"
    )
    code: str = shared_fields.code()
    fingerprint: str = shared_fields.fingerprint()
    delay: float | None = attribute(
        "toolerrors.retry.delay", "The wait that did not fit, where that was the reason.", 3600.0, unit="s",
        cardinality="high", default=None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HedgeStarted:
    """The first try was slow, so a second one was started beside it."""

    NAME: ClassVar[str] = "toolerrors.hedge.started"
    VIEW: ClassVar[str] = "hedges"

    tool: str = shared_fields.tool()
    attempt: int = shared_fields.attempt()
    after: float = attribute(
        "toolerrors.hedge.after", "How long the first try had been under way.", 0.8, unit="s", cardinality="high"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerMoved:
    """A breaker changed its state."""

    NAME: ClassVar[str] = "toolerrors.breaker.moved"
    VIEW: ClassVar[str] = "breaker_moves"

    breaker: BreakerKind = attribute("toolerrors.breaker.kind", "run or service.", "service", cardinality="low")
    name: str = attribute("toolerrors.breaker.name", "The service, or for a run breaker the tool.", "search-api")
    from_state: BreakerState = attribute("toolerrors.breaker.from", "State before.", "closed", cardinality="low")
    to_state: BreakerState = attribute("toolerrors.breaker.to", "State after.", "open", cardinality="low")
    reason: str = attribute("toolerrors.breaker.reason", "What moved it.", "failure_rate", cardinality="low")
    failures: int = attribute("toolerrors.breaker.failures", "Failures it had counted.", 7, cardinality="low")
    calls: int = attribute("toolerrors.breaker.calls", "Attempts in its window.", 10, cardinality="low")
    cooldown: float | None = attribute(
        "toolerrors.breaker.cooldown", "How long it stays open.", 30.0, unit="s", cardinality="low", default=None
    )
    shadow: bool = attribute(
        "toolerrors.breaker.shadow", "True when it only observes and rejects nothing.", False, cardinality="low",
        default=False,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRejected:
    """A breaker refused an attempt without calling the tool."""

    NAME: ClassVar[str] = "toolerrors.breaker.rejected"
    VIEW: ClassVar[str] = "rejections"

    tool: str = shared_fields.tool()
    breaker: BreakerKind = attribute("toolerrors.breaker.kind", "run or service.", "service", cardinality="low")
    name: str = attribute("toolerrors.breaker.name", "The service, or for a run breaker the tool.", "search-api")
    state: BreakerState = attribute("toolerrors.breaker.state", "State that refused.", "open", cardinality="low")
    retry_after: float | None = attribute(
        "toolerrors.retry_after",
        "Time until the next probe may pass.",
        12.0,
        unit="s",
        cardinality="high",
        default=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetExhausted:
    """A service's retry budget is spent: failures are not repeated until successes pay it back."""

    NAME: ClassVar[str] = "toolerrors.budget.exhausted"
    VIEW: ClassVar[str] = "budget_stops"

    tool: str = shared_fields.tool()
    service: str = attribute("toolerrors.service", "Key of the service's breaker and budget.", "search-api")
    tokens: float = attribute("toolerrors.budget.tokens", "Tokens left in the bucket.", 1.5, cardinality="high")


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsRefreshed:
    """The run's credentials were refreshed after a 401."""

    NAME: ClassVar[str] = "toolerrors.credentials.refreshed"
    VIEW: ClassVar[str] = "refreshes"

    tool: str = shared_fields.tool()
    credential: str = attribute("toolerrors.credential", "Name of the credential, never its value.", "github")
    succeeded: bool = attribute("toolerrors.credential.refreshed", "Whether the refresh worked.", True)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitHeartbeat:
    """A long wait is alive."""

    NAME: ClassVar[str] = "toolerrors.wait.heartbeat"
    VIEW: ClassVar[str] = "heartbeats"

    tool: str = shared_fields.tool()
    waited: float = attribute("toolerrors.wait.waited", "Waited so far.", 30.0, unit="s", cardinality="high")
    remaining: float = attribute("toolerrors.wait.remaining", "Left of this wait.", 270.0, unit="s", cardinality="high")
