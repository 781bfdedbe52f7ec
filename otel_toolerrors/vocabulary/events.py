"""The events: what the engine decided, as frozen dataclasses.

Each class *is* a row of the vocabulary. Its ``NAME`` is the span event's (and
log record's) name, its fields are the attributes, its ``VIEW`` is the DuckDB
view that the analysis builds for it, and its docstring is what the reference
page says. An event that is added here appears in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from .attributes import attribute
from .words import (
    Arm,
    BreakerKind,
    BreakerState,
    Category,
    Foresight,
    RefusalReason,
    RetryBasis,
    SideEffects,
    StopReason,
)


class Event(Protocol):
    """Anything the engine reports."""

    NAME: ClassVar[str]
    VIEW: ClassVar[str]


def _tool() -> str:
    return attribute("gen_ai.tool.name", "The tool the event is about.", "search")  # type: ignore[no-any-return]


def _attempt() -> int:
    return attribute("toolerrors.attempt", "Number of the attempt, from 1.", 2, cardinality="low")  # type: ignore[no-any-return]


def _code() -> str:
    return attribute("toolerrors.code", "Stable, fine code of the fault.", "timeout.read")  # type: ignore[no-any-return]


def _category() -> Category:
    return attribute("toolerrors.category", "One of the nine fault categories.", "transient", cardinality="low")  # type: ignore[no-any-return]


def _fingerprint() -> str:
    return attribute(  # type: ignore[no-any-return]
        "toolerrors.fingerprint", "Groups errors that differ only in ids, numbers and paths.", "9f2b6c01d4e8a7f3"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultClassified:
    """An attempt failed, and the classifier said what the failure is."""

    NAME: ClassVar[str] = "toolerrors.fault.classified"
    VIEW: ClassVar[str] = "faults"

    tool: str = _tool()
    attempt: int = _attempt()
    category: Category = _category()
    code: str = _code()
    passing: bool = attribute(
        "toolerrors.passing", "Whether the same call may succeed later, side effects aside.", True, cardinality="low"
    )
    retryable: bool = attribute(
        "toolerrors.retryable", "Whether repeating it is also safe for the declared effects.", True, cardinality="low"
    )
    side_effects: SideEffects = attribute(
        "toolerrors.side_effects", "What is known about whether the call took effect.", "unknown", cardinality="low"
    )
    fingerprint: str = _fingerprint()
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

    tool: str = _tool()
    attempt: int = _attempt()
    delay: float = attribute(
        "toolerrors.retry.delay", "Wait before the next attempt.", 0.61, unit="s", cardinality="high"
    )
    basis: RetryBasis = attribute("toolerrors.retry.basis", "What chose the delay.", "backoff", cardinality="low")
    code: str = _code()
    fingerprint: str = _fingerprint()


@dataclass(frozen=True, slots=True, kw_only=True)
class HedgeStarted:
    """The first try was slow, so a second one was started beside it."""

    NAME: ClassVar[str] = "toolerrors.hedge.started"
    VIEW: ClassVar[str] = "hedges"

    tool: str = _tool()
    attempt: int = _attempt()
    after: float = attribute(
        "toolerrors.hedge.after", "How long the first try had been under way.", 0.8, unit="s", cardinality="high"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRefused:
    """The engine will not repeat the call, and why."""

    NAME: ClassVar[str] = "toolerrors.retry.refused"
    VIEW: ClassVar[str] = "retries"

    tool: str = _tool()
    attempt: int = _attempt()
    reason: RefusalReason = attribute(
        "toolerrors.retry.reason", "Why the call is not repeated.", "effects", cardinality="low"
    )
    code: str = _code()
    fingerprint: str = _fingerprint()
    delay: float | None = attribute(
        "toolerrors.retry.delay", "The wait that did not fit, where that was the reason.", 3600.0, unit="s",
        cardinality="high", default=None,
    )  # fmt: skip


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

    tool: str = _tool()
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
class FallbackUsed:
    """Another tool, or a cached result, stood in for the one that failed."""

    NAME: ClassVar[str] = "toolerrors.fallback.used"
    VIEW: ClassVar[str] = "fallbacks"

    tool: str = _tool()
    fallback: str = attribute("toolerrors.fallback.tool", "The tool that stood in, or ``cache``.", "search_backup")
    succeeded: bool = attribute("toolerrors.fallback.succeeded", "Whether it helped.", True, cardinality="low")
    code: str = _code()
    quality: str | None = attribute(
        "toolerrors.fallback.quality", "Declared loss of quality.", "no ranking", cardinality="low", default=None
    )
    age: float | None = attribute(
        "toolerrors.fallback.age", "Age of a cached result.", 340.0, unit="s", cardinality="high", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDegraded:
    """An optional tool left the run's tool list."""

    NAME: ClassVar[str] = "toolerrors.tool.degraded"
    VIEW: ClassVar[str] = "degradations"

    tool: str = _tool()
    code: str = _code()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSurfaced:
    """The model was shown an error, with or without recovery context."""

    NAME: ClassVar[str] = "toolerrors.error.surfaced"
    VIEW: ClassVar[str] = "surfaced"

    tool: str = _tool()
    category: Category = _category()
    code: str = _code()
    fingerprint: str = _fingerprint()
    target: str = attribute(
        "toolerrors.target", "Keyed digest of the operation and what it was aimed at.", "b1946ac92492d234",
        cardinality="high",
    )  # fmt: skip
    failures: int = attribute(
        "toolerrors.run.failures", "Consecutive failures of this tool in the run, this one included.", 1,
        cardinality="low",
    )  # fmt: skip
    tokens: int = attribute(
        "toolerrors.surfaced.tokens", "Estimated tokens of the whole text.", 148, unit="{token}", cardinality="high"
    )
    injected_tokens: int = attribute(
        "toolerrors.injected.tokens", "Of these, what recovery context added to the bare error.", 96, unit="{token}",
        cardinality="high",
    )  # fmt: skip
    arm: Arm = attribute("toolerrors.arm", "Experiment arm of the run.", "context", cardinality="low")
    suggestions: str | None = attribute(
        "toolerrors.suggestion.ids", "Ids of the suggestions shown, comma-separated.", "not-found.search-first",
        default=None,
    )  # fmt: skip
    dropped_suggestions: str | None = attribute(
        "toolerrors.suggestion.dropped", "Ids of suggestions left out because they name a tool that is not offered.",
        "config.use-find", default=None,
    )  # fmt: skip
    suggested_tools: str | None = attribute(
        "toolerrors.suggestion.tools", "Tools that they name, comma-separated.", "list_files,search", default=None
    )
    offered_tools: str | None = attribute(
        "toolerrors.tools.offered", "The run's tool list at that moment, comma-separated.", "read_file,search",
        cardinality="high", default=None,
    )  # fmt: skip
    trimmed: str | None = attribute(
        "toolerrors.injected.trimmed", "Why context was left out: near_limit, systemic, repeated.", "systemic",
        cardinality="low", default=None,
    )  # fmt: skip
    context_remaining: int | None = attribute(
        "toolerrors.context.remaining", "Tokens left in the model's window, where known.", 5200, unit="{token}",
        cardinality="high", default=None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped:
    """The run ended in code: no further tool call is made."""

    NAME: ClassVar[str] = "toolerrors.run.stopped"
    VIEW: ClassVar[str] = "stops"

    tool: str = _tool()
    reason: StopReason = attribute("toolerrors.stop.reason", "Why the run stopped.", "permission", cardinality="low")
    category: Category | None = attribute(
        "toolerrors.category", "Category of the last fault, if one stopped the run.", "permission", cardinality="low",
        default=None,
    )  # fmt: skip
    code: str | None = attribute("toolerrors.code", "Its code.", "http.403", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketIssued:
    """A recovery packet was made for the person who takes over."""

    NAME: ClassVar[str] = "toolerrors.packet.issued"
    VIEW: ClassVar[str] = "packets"

    tool: str = _tool()
    code: str = _code()
    side_effects: SideEffects = attribute(
        "toolerrors.side_effects", "What is known about whether the call took effect.", "unknown", cardinality="low"
    )
    safe_actions: int = attribute("toolerrors.packet.safe_actions", "How many safe next actions it names.", 2)
    unsafe_actions: int = attribute("toolerrors.packet.unsafe_actions", "How many unsafe ones.", 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsRefreshed:
    """The run's credentials were refreshed after a 401."""

    NAME: ClassVar[str] = "toolerrors.credentials.refreshed"
    VIEW: ClassVar[str] = "refreshes"

    tool: str = _tool()
    credential: str = attribute("toolerrors.credential", "Name of the credential, never its value.", "github")
    succeeded: bool = attribute("toolerrors.credential.refreshed", "Whether the refresh worked.", True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDenied:
    """Our own permission check refused a call; the tool was not called."""

    NAME: ClassVar[str] = "toolerrors.call.denied"
    VIEW: ClassVar[str] = "denials"

    tool: str = _tool()
    reason: str = attribute("toolerrors.denial.reason", "The check's reason, redacted.", "writes need approval")
    consecutive: int = attribute("toolerrors.denial.consecutive", "Denials in a row in this run.", 2, cardinality="low")
    total: int = attribute("toolerrors.denial.total", "Denials in this run.", 5, cardinality="low")
    drift: bool = attribute(
        "toolerrors.denial.drift", "True if the same tool was allowed earlier in the run.", False, cardinality="low"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCancelled:
    """A call ended by cancellation, or was never made because the run had stopped."""

    NAME: ClassVar[str] = "toolerrors.call.cancelled"
    VIEW: ClassVar[str] = "cancellations"

    tool: str = _tool()
    reason: str = attribute("toolerrors.cancel.reason", "cancelled, run_stopped or aborted.", "run_stopped")
    side_effects: SideEffects = attribute(
        "toolerrors.side_effects", "What is known about whether the call took effect.", "none", cardinality="low"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOverflowed:
    """A model request did not fit its context window."""

    NAME: ClassVar[str] = "toolerrors.context.overflowed"
    VIEW: ClassVar[str] = "overflows"

    model: str = attribute("gen_ai.request.model", "The model asked.", "claude-sonnet-5")
    input_tokens: int | None = attribute(
        "toolerrors.overflow.input", "Input tokens the provider counted.", 198000, unit="{token}", default=None
    )
    limit: int | None = attribute(
        "toolerrors.overflow.limit", "The window's size.", 200000, unit="{token}", default=None
    )
    max_tokens: int | None = attribute(
        "toolerrors.overflow.max_tokens", "Output tokens of the repeated request; absent when it failed.", 2000,
        unit="{token}", default=None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSwitched:
    """After repeated overloads another model serves the request, or the first one serves again."""

    NAME: ClassVar[str] = "toolerrors.model.switched"
    VIEW: ClassVar[str] = "model_switches"

    from_model: str = attribute("toolerrors.model.from", "Model before.", "claude-opus-5")
    to_model: str = attribute("toolerrors.model.to", "Model after.", "claude-sonnet-5")
    reason: str = attribute("toolerrors.model.reason", "overloaded or recovered.", "overloaded", cardinality="low")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitHeartbeat:
    """A long wait is alive."""

    NAME: ClassVar[str] = "toolerrors.wait.heartbeat"
    VIEW: ClassVar[str] = "heartbeats"

    tool: str = _tool()
    waited: float = attribute("toolerrors.wait.waited", "Waited so far.", 30.0, unit="s", cardinality="high")
    remaining: float = attribute("toolerrors.wait.remaining", "Left of this wait.", 270.0, unit="s", cardinality="high")


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetExhausted:
    """A service's retry budget is spent: failures are not repeated until successes pay it back."""

    NAME: ClassVar[str] = "toolerrors.budget.exhausted"
    VIEW: ClassVar[str] = "budget_stops"

    tool: str = _tool()
    service: str = attribute("toolerrors.service", "Key of the service's breaker and budget.", "search-api")
    tokens: float = attribute("toolerrors.budget.tokens", "Tokens left in the bucket.", 1.5, cardinality="high")


EVENTS: tuple[type[Event], ...] = (
    FaultClassified,
    RetryScheduled,
    RetryRefused,
    HedgeStarted,
    BreakerMoved,
    BreakerRejected,
    FallbackUsed,
    ToolDegraded,
    ErrorSurfaced,
    RunStopped,
    PacketIssued,
    CredentialsRefreshed,
    CallDenied,
    CallCancelled,
    ContextOverflowed,
    ModelSwitched,
    WaitHeartbeat,
    BudgetExhausted,
)
"""The table. Telemetry, analysis and the reference page all read it."""
