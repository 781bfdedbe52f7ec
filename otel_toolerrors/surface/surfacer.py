"""Puts decisions into words: for the model, for the person, for telemetry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolerrors.engine import Call, Decision, RunState
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import SurfacePolicy
from otel_toolerrors.vocabulary import Arm, ErrorSurfaced, PacketIssued, StopReason

from .catalog import Catalog
from .context import Context, ContextBuilder
from .envelope import Envelope, envelope_for, is_open_write
from .messages import (
    DEGRADED,
    DENIED,
    DENIED_CODE,
    FAILED,
    STILL_DEGRADED,
    STOPPED,
)
from .neutral import neutralise
from .outcome import Outcome, answered
from .packet import RecoveryPacket, packet_for


@dataclass(frozen=True, slots=True)
class Where:
    """What identifies a call in a surfaced text."""

    call_id: str | None
    run_id: str
    trace_id: str


@dataclass(slots=True)
class Surfacer:
    """Makes the outcomes of one run."""

    policy: SurfacePolicy
    catalog: Catalog
    arm: Arm
    run: RunState
    offered: Callable[[], list[str]]
    """The run's tool list as it stands."""
    count_tokens: Callable[[str], int]
    context: ContextBuilder = field(init=False)
    told: set[str] = field(default_factory=set)
    """Degraded tools that the model has been told about."""

    def __post_init__(self) -> None:
        """Start without a memory of what was shown."""
        self.context = ContextBuilder(self.policy)

    def outcome(self, decision: Decision, call: Call, where: Where, remaining: int | None) -> Outcome:
        """Render a decision that is no success."""
        fault = decision.fault
        if fault is None:
            return answered(decision, call.tool, where.call_id)
        hints, dropped = self._hints(call.tool, fault)
        hint = hints[0].text if hints else None
        summary = neutralise(fault.message, self.policy.max_chars)
        envelope = envelope_for(decision, fault, call.tool, summary=summary, hint=hint, trace_id=where.trace_id)
        text, context = self._text(decision, call, envelope, hints, remaining)
        if decision.kind == "surfaced":
            call.emit(
                self._surfaced(decision, call, fault, text, context=context, dropped=dropped, remaining=remaining)
            )
        packet = self._packet(decision, call, fault, where, summary)
        outcome = answered(decision, call.tool, where.call_id)
        outcome.message, outcome.envelope, outcome.packet = text, envelope, packet
        return outcome

    def not_run(self, call_id: str, stop: StopReason | None) -> Outcome:
        """Answer a call that was never begun."""
        return answered(Decision(kind="cancelled", stop=stop), "", call_id)

    def _hints(self, tool: str, fault: Fault) -> tuple[list[Any], list[str]]:
        """Choose suggestions; those that name a tool which is not offered are dropped, and reported."""
        chosen = self.catalog.choose(tool, fault, self.policy.suggestions + len(self.catalog.suggestion))
        offered = set(self.offered())
        fresh = [hint for hint in chosen if self.policy.stale == "show" or offered.issuperset(hint.tools)]
        dropped = [hint.id for hint in chosen if hint not in fresh]
        return fresh[: self.policy.suggestions], dropped

    def _text(
        self, decision: Decision, call: Call, envelope: Envelope, hints: Sequence[Any], remaining: int | None
    ) -> tuple[str, Context]:
        if decision.kind == "degraded":
            first = call.tool not in self.told
            self.told.add(call.tool)
            return (DEGRADED if first else STILL_DEGRADED).format(tool=call.tool), Context("")
        bare = bare_text(envelope)
        if decision.stop is not None:
            return f"{bare}\n{STOPPED}", Context("")
        if self.arm == "bare" or decision.kind == "denied" or decision.fault is None:
            return bare, Context("")
        previous = self.run.previous(call.tool, call.target)[:-1]
        context = self.context.build(call, decision.fault, previous, hints, remaining)
        return f"{bare}\n{context.text}" if context.text else bare, context

    def _surfaced(
        self, decision: Decision, call: Call, fault: Fault, text: str, *, context: Context, dropped: Sequence[str],
        remaining: int | None,
    ) -> ErrorSurfaced:  # fmt: skip
        tools = dict.fromkeys(tool for hint in context.suggestions for tool in hint.tools)
        return ErrorSurfaced(
            tool=call.tool,
            category=fault.category,
            code=fault.code,
            fingerprint=fault.fingerprint,
            target=call.target,
            failures=decision.failures,
            tokens=self.count_tokens(text),
            injected_tokens=self.count_tokens(context.text) if context.text else 0,
            arm=self.arm,
            suggestions=_joined(hint.id for hint in context.suggestions),
            suggested_tools=_joined(tools),
            dropped_suggestions=_joined(dropped),
            offered_tools=_joined(self.offered()),
            trimmed=context.trimmed,
            context_remaining=remaining,
        )

    def _packet(
        self, decision: Decision, call: Call, fault: Fault, where: Where, summary: str
    ) -> RecoveryPacket | None:
        if decision.kind != "stopped" and not is_open_write(fault):
            return None
        packet = packet_for(
            decision, fault, call.tool, summary=summary, target=call.target, run_id=where.run_id,
            trace_id=where.trace_id, keyed=call.keyed,
        )  # fmt: skip
        call.emit(
            PacketIssued(
                tool=call.tool, code=fault.code, side_effects=fault.side_effects,
                safe_actions=len(packet.safe_next_actions), unsafe_actions=len(packet.unsafe_next_actions),
            )
        )  # fmt: skip
        return packet


def _joined(names: Iterable[str]) -> str | None:
    return ",".join(names) or None


def bare_text(envelope: Envelope) -> str:
    """Write the error itself, in one or two lines, as the model sees it in both arms."""
    error = envelope.error
    if error is None:
        return envelope.tool
    lead = DENIED if error.code == DENIED_CODE else FAILED
    lines = [lead.format(tool=envelope.tool, category=error.category, code=error.code, summary=error.summary)]
    if error.side_effects != "none" and error.human_action_required:
        lines.append(_EFFECT[error.side_effects])
    return "\n".join(lines)


_EFFECT = {
    "unknown": "It is not known whether the operation took effect.",
    "committed": "The operation took effect.",
}
