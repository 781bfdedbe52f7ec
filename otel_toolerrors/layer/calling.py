"""One call on its way: what `Run` knows between the model's request and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from otel_toolerrors.engine import Call, Decision, Surroundings, classified, fail
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Declaration, ToolRules
from otel_toolerrors.surface import DENIED_CODE, NEAR_NAMES, UNKNOWN_TOOL, Where
from otel_toolerrors.vocabulary import CallCancelled, CallOutcome, CallSpan, Event, SideEffects, StopReason

from .digest import safe_digest
from .tools import Tool

if TYPE_CHECKING:
    from .run import Run


CURRENT: ContextVar[Calling | None] = ContextVar("toolerrors-call", default=None)
"""The call that this code is part of."""


class Calling:
    """One call. As a context manager it makes sure that the trace ends, also under cancellation."""

    __slots__ = ("_ended", "_outer", "_run", "began", "call", "call_id", "index", "name", "rules", "tool", "trace")

    def __init__(
        self, run: Run, tool: Tool | None, name: str, arguments: Mapping[str, Any], *,
        call_id: str | None, key: str | None, index: int,
    ) -> None:  # fmt: skip
        layer = run.layer
        self._run = run
        self._ended = False
        self.tool = tool
        self.name = name
        self.call_id = call_id
        self.index = index
        declared = tool.declared if tool is not None else Declaration()
        self.rules: ToolRules = layer.rules_for(name, declared, run.source, alone=run.alone)

        def target() -> str:
            return safe_digest(layer.secret, name, arguments)

        self.call = Call(name, arguments, target, key=key or run.key_for(tool, target))
        if self.call.key is not None and tool is not None and tool.key_parameter is not None:
            self.call.arguments = {**arguments, tool.key_parameter: self.call.key}
        self.trace = run.trace.start_call(name, service=self.rules.service, known=tool is not None)
        self.began = layer.clock()

    @property
    def where(self) -> Where:
        """What identifies the call in a surfaced text."""
        return Where(self.call_id, self._run.id, self.trace.trace_id)

    def emit(self, event: Event) -> None:
        """Tell everybody who listens."""
        self.trace.event(event)
        self._run.layer.notify(event)

    def no_such_tool(self, near: list[str], around: Surroundings) -> Decision:
        """Decide a call of a tool that does not exist."""
        message = NEAR_NAMES.format(names=", ".join(near)) if near else UNKNOWN_TOOL
        fault = self._fault("not_found", "tool.unknown", message)
        self.emit(classified(self.name, 0, fault))
        return fail(self.call, self.rules, around, fault, self.emit)

    def denied(self, reason: str, stop: StopReason | None) -> Decision:
        """Decide a call that the permission check refused."""
        fault = self._fault("permission", DENIED_CODE, reason)
        return Decision(kind="stopped" if stop else "denied", fault=fault, stop=stop)

    def _fault(self, category: Any, code: str, message: str) -> Fault:
        return Fault(
            category=category, code=code, passing=False, side_effects="none", effects=self.rules.effects,
            message=message, fingerprint=code, signal="rule", strength="certain",
        )  # fmt: skip

    def end(self, decision: Decision) -> None:
        """Describe the call in its trace."""
        self._ended = True
        ok = decision.kind == "ok"
        self.trace.end(lambda: self._describe(decision), ok=ok or decision.kind == "cancelled")

    def abandon(self) -> None:
        """End the trace of a call that will not be made."""
        self.end(Decision(kind="cancelled"))

    def _describe(self, decision: Decision) -> CallSpan:
        run, fault = self._run, decision.fault
        ok = decision.kind == "ok"
        outcome: CallOutcome = "recovered" if ok and fault is not None else decision.kind
        return CallSpan(
            operation=CallSpan.OPERATION, tool=self.name, call_id=self.call_id, tool_type="function", agent=run.agent,
            conversation=run.conversation, run_id=run.id, index=self.index, source=run.source,
            service=self.rules.service, effects=self.rules.effects, keyed=True if self.call.key is not None else None,
            arguments=self.call.target, policy=run.policy.digest, outcome=outcome, attempts=decision.attempts,
            category=fault.category if fault else None, code=fault.code if fault else None,
            side_effects=fault.side_effects if fault and not ok else None,
            error_type=fault.code if fault and not ok else None,
        )  # fmt: skip

    @property
    def repeats(self) -> bool:
        """Whether the tool may be called again after a failure that leaves its effect unknown."""
        return self.rules.effects in ("read", "idempotent") or self.call.key is not None

    def __enter__(self) -> Self:
        self._outer = CURRENT.get()
        CURRENT.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        CURRENT.set(self._outer)
        if self._ended:
            return
        self.interrupted(kind)

    def interrupted(self, kind: type[BaseException] | None) -> None:
        """End with cancellation, an interrupt, a framework's signal: it goes on its way, and the trace says so."""
        tried: SideEffects = "unknown" if self.rules.effects in ("write", "destructive") else "none"
        reason = "cancelled" if kind is None else kind.__name__
        self.emit(CallCancelled(tool=self.name, reason=reason, side_effects=tried))
        self.end(Decision(kind="cancelled"))
