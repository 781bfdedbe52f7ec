"""Events of a call and its run: what stood in, what the model and the person were shown, why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from . import shared_fields
from .attributes import attribute
from .words import Arm, Category, SideEffects, StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackUsed:
    """Another tool, or a cached result, stood in for the one that failed."""

    NAME: ClassVar[str] = "toolerrors.fallback.used"
    VIEW: ClassVar[str] = "fallbacks"

    tool: str = shared_fields.tool()
    fallback: str = attribute("toolerrors.fallback.tool", "The tool that stood in, or ``cache``.", "search_backup")
    succeeded: bool = attribute("toolerrors.fallback.succeeded", "Whether it helped.", True, cardinality="low")
    code: str = shared_fields.code()
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

    tool: str = shared_fields.tool()
    code: str = shared_fields.code()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSurfaced:
    """The model was shown an error, with or without recovery context."""

    NAME: ClassVar[str] = "toolerrors.error.surfaced"
    VIEW: ClassVar[str] = "surfaced"

    tool: str = shared_fields.tool()
    category: Category = shared_fields.category()
    code: str = shared_fields.code()
    fingerprint: str = shared_fields.fingerprint()
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
class CallDenied:
    """Our own permission check refused a call; the tool was not called."""

    NAME: ClassVar[str] = "toolerrors.call.denied"
    VIEW: ClassVar[str] = "denials"

    tool: str = shared_fields.tool()
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

    tool: str = shared_fields.tool()
    reason: str = attribute("toolerrors.cancel.reason", "cancelled, run_stopped or aborted.", "run_stopped")
    side_effects: SideEffects = attribute(
        "toolerrors.side_effects", "What is known about whether the call took effect.", "none", cardinality="low"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped:
    """The run ended in code: no further tool call is made."""

    NAME: ClassVar[str] = "toolerrors.run.stopped"
    VIEW: ClassVar[str] = "stops"

    tool: str = shared_fields.tool()
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

    tool: str = shared_fields.tool()
    code: str = shared_fields.code()
    side_effects: SideEffects = attribute(
        "toolerrors.side_effects", "What is known about whether the call took effect.", "unknown", cardinality="low"
    )
    safe_actions: int = attribute("toolerrors.packet.safe_actions", "How many safe next actions it names.", 2)
    unsafe_actions: int = attribute("toolerrors.packet.unsafe_actions", "How many unsafe ones.", 1)
