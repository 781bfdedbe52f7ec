"""The spans: one per run, one per logical call, one per failed or repeated attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from .attributes import attribute
from .words import Arm, CallOutcome, Category, Effects, SideEffects, StopReason

# Made once for every call that is traced: not frozen, which would triple the price.


class Span(Protocol):
    """A span we make: its name's first word, and its attributes as fields."""

    OPERATION: ClassVar[str]
    VIEW: ClassVar[str]


@dataclass(slots=True, kw_only=True)
class RunSpan:
    """``invoke_agent {agent}``, INTERNAL. Made only where no framework makes one; child of whatever is current."""

    OPERATION: ClassVar[str] = "invoke_agent"
    VIEW: ClassVar[str] = "runs"

    operation: str = attribute("gen_ai.operation.name", "Always ``invoke_agent``.", "invoke_agent", cardinality="low")
    agent: str | None = attribute("gen_ai.agent.name", "The agent.", "triage", default=None)
    conversation: str | None = attribute(
        "gen_ai.conversation.id", "The conversation, if the caller names one.", "c-81", cardinality="high", default=None
    )
    run_id: str = attribute("toolerrors.run.id", "Joins the calls of a run.", "4bf92f3577b34da6", cardinality="high")
    source: str = attribute("toolerrors.source", "Who waits for the result.", "main_agent")
    arm: Arm = attribute("toolerrors.arm", "Experiment arm of the run.", "context", cardinality="low")
    tools: str = attribute(
        "toolerrors.tools.offered", "Tool list at the start, comma-separated.", "read_file,search", cardinality="high"
    )
    policy: str = attribute("toolerrors.policy.digest", "Digest of the policy in force.", "5d41402abc4b2a76")
    catalog: str = attribute("toolerrors.catalog.version", "Version of the suggestion catalog.", "2026.11")
    observed: bool | None = attribute(
        "toolerrors.observed", "True when the layer only records and changes nothing.", True, cardinality="low",
        default=None,
    )  # fmt: skip
    stop_reason: StopReason | None = attribute(
        "toolerrors.stop.reason", "Why the run was stopped, if it was.", "permission", cardinality="low", default=None
    )
    error_type: str | None = attribute(
        "error.type", "Code of the fault that stopped the run.", "http.403", default=None
    )


@dataclass(slots=True, kw_only=True)
class CallSpan:
    """``execute_tool {tool}``, INTERNAL. One per logical call, all retries included.

    Status is ERROR, with ``error.type``, only if the call ended badly; a call that recovered is left UNSET.
    """

    OPERATION: ClassVar[str] = "execute_tool"
    VIEW: ClassVar[str] = "calls"

    operation: str = attribute("gen_ai.operation.name", "Always ``execute_tool``.", "execute_tool", cardinality="low")
    tool: str = attribute("gen_ai.tool.name", "The tool.", "search")
    call_id: str | None = attribute(
        "gen_ai.tool.call.id", "The model's id for the call.", "toolu_01A", cardinality="high", default=None
    )
    tool_type: str = attribute("gen_ai.tool.type", "Always ``function``.", "function", cardinality="low")
    agent: str | None = attribute("gen_ai.agent.name", "The agent.", "triage", default=None)
    conversation: str | None = attribute(
        "gen_ai.conversation.id", "The conversation, if the caller names one.", "c-81", cardinality="high", default=None
    )
    run_id: str = attribute("toolerrors.run.id", "Joins the calls of a run.", "4bf92f3577b34da6", cardinality="high")
    index: int = attribute("toolerrors.call.index", "Position in the run, from 0.", 3, cardinality="high")
    source: str = attribute("toolerrors.source", "Who waits for the result.", "main_agent")
    service: str = attribute("toolerrors.service", "Key of the service's breaker and budget.", "search-api")
    effects: Effects = attribute("toolerrors.effects", "What the tool declares.", "read", cardinality="low")
    keyed: bool | None = attribute(
        "toolerrors.idempotency_key", "True if the call carried an idempotency key (never the key).", True,
        cardinality="low", default=None,
    )  # fmt: skip
    arguments: str = attribute(
        "toolerrors.arguments_digest", "Keyed digest of the arguments, never the arguments.", "c9f0f895fb98ab91",
        cardinality="high",
    )  # fmt: skip
    policy: str = attribute("toolerrors.policy.digest", "Digest of the policy in force.", "5d41402abc4b2a76")
    observed: bool | None = attribute(
        "toolerrors.observed", "True when the layer only records and changes nothing.", True, cardinality="low",
        default=None,
    )  # fmt: skip
    outcome: CallOutcome = attribute("toolerrors.outcome", "How the call ended.", "recovered", cardinality="low")
    attempts: int = attribute("toolerrors.attempts", "Attempts made, 0 if none was.", 3, cardinality="low")
    category: Category | None = attribute(
        "toolerrors.category", "Category of the last fault, if there was one.", "transient", cardinality="low",
        default=None,
    )  # fmt: skip
    code: str | None = attribute("toolerrors.code", "Its code.", "http.503", default=None)
    side_effects: SideEffects | None = attribute(
        "toolerrors.side_effects", "What is known about whether a failed call took effect.", "none", cardinality="low",
        default=None,
    )  # fmt: skip
    error_type: str | None = attribute(
        "error.type", "Our code, only if the call ended badly.", "http.503", default=None
    )


@dataclass(slots=True, kw_only=True)
class AttemptSpan:
    """``attempt {tool}``, INTERNAL. One per failed or repeated attempt; a call that works at once has none.

    It carries no ``gen_ai.operation.name``, so that nothing counts a call twice.
    """

    OPERATION: ClassVar[str] = "attempt"
    VIEW: ClassVar[str] = "attempts"

    tool: str = attribute("gen_ai.tool.name", "The tool called, a fallback's own name included.", "search")
    attempt: int = attribute("toolerrors.attempt", "Number of the attempt, from 1.", 2, cardinality="low")
    category: Category | None = attribute(
        "toolerrors.category", "Category of the fault; absent if the attempt worked.", "transient", cardinality="low",
        default=None,
    )  # fmt: skip
    error_type: str | None = attribute(
        "error.type", "Code of the fault; absent if it worked.", "timeout.read", default=None
    )


SPANS: tuple[type[Span], ...] = (RunSpan, CallSpan, AttemptSpan)
"""The table of spans."""
