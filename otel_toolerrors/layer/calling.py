"""One call on its way: what `Run` knows between the model's request and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from otel_toolerrors.engine import Call, Decision, Service, classified, fail
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Declaration, ToolRules
from otel_toolerrors.surface import DENIED_CODE, NEAR_NAMES, UNKNOWN_TOOL, Where
from otel_toolerrors.vocabulary import CallCancelled, CallOutcome, Event, Scalar, SideEffects, StopReason

from .digest import safe_digest
from .tools import Tool

if TYPE_CHECKING:
    from .run import Run


CURRENT: ContextVar[Calling | None] = ContextVar("toolerrors-call", default=None)
"""The call that this code is part of."""

_UNDECLARED = Declaration()


@dataclass(slots=True)
class Route:
    """What the calls of one tool in one run have in common."""

    tool: str
    own: Tool | None
    """The tool that is called by this name; None if there is none."""
    rules: ToolRules
    service: Service
    is_async: bool

    @classmethod
    def of(cls, run: Run, tool: str, own: Tool | None) -> Route:
        """Find what the policy and the tool itself say about calling it."""
        declared = own.declared if own is not None else _UNDECLARED
        rules = run.layer.rules_for(tool, declared, run.source, alone=run.alone, policy=run.policy)
        return cls(tool, own, rules, run.layer.services.get(rules.service), own is not None and own.is_async)


class Calling(Call):
    """One call. As a context manager it makes sure that the trace ends, also under cancellation."""

    __slots__ = ("_decision", "_outer", "call_id", "index", "own", "run", "trace")

    def __init__(
        self, run: Run, route: Route, arguments: Mapping[str, Any], call_id: str | None, key: str | None
    ) -> None:
        tool, rules, own = route.tool, route.rules, route.own
        Call.__init__(self, tool, arguments, rules, run.around, run.layer.clock(), key=key, service=route.service)
        self.run = run
        self._decision: Decision | None = None
        self.own = own
        """The tool that is called by this name; None if there is none."""
        self.call_id = call_id
        self.index = next(run.indices)
        if own is not None and own.key_parameter is not None:
            target = self.target  # of the arguments as the model gave them
            self.key = key or run.key_for(target)
            self.arguments = {**arguments, own.key_parameter: self.key}
        self.trace = run.trace.start_call(tool, service=rules.service, known=own is not None)

    @property
    def target(self) -> str:
        """Keyed digest of tool and arguments, made when first asked for."""
        if not self._target:
            self._target = safe_digest(self.run.layer.secret, self.tool, self.arguments)
        return self._target

    @property
    def where(self) -> Where:
        """What identifies the call in a surfaced text."""
        return Where(self.call_id, self.run.id, self.trace.trace_id)

    def emit(self, event: Event) -> None:
        """Tell everybody who listens."""
        self.trace.event(event)
        self.run.layer.notify(event)

    def no_such_tool(self, near: list[str]) -> Decision:
        """Decide a call of a tool that does not exist."""
        message = NEAR_NAMES.format(names=", ".join(near)) if near else UNKNOWN_TOOL
        fault = self._fault("not_found", "tool.unknown", message)
        self.emit(classified(self.tool, 0, fault))
        return fail(self, fault)

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
        self._decision = decision
        self.trace.end(self._describe, ok=decision.kind in ("ok", "cancelled"))

    def _describe(self) -> dict[str, Scalar]:
        run, decision = self.run, self._decision or Decision(kind="cancelled")
        ok, fault = decision.kind == "ok", decision.fault
        outcome: CallOutcome = "recovered" if ok and fault is not None else decision.kind
        said: dict[str, Any] = {} if fault is None else {"category": fault.category, "code": fault.code}
        if fault is not None and not ok:
            said |= {"side_effects": fault.side_effects, "error_type": fault.code}
        return run.span_of_call.filled(
            tool=self.tool, call_id=self.call_id, index=self.index, service=self.rules.service,
            effects=self.rules.effects, keyed=True if self.keyed else None, arguments=self.target,
            outcome=outcome, attempts=decision.attempts, **said,
        )  # fmt: skip

    @property
    def repeats(self) -> bool:
        """Whether the tool may be called again after a failure that leaves its effect unknown."""
        return self.rules.effects in ("read", "idempotent") or self.keyed

    def __enter__(self) -> Self:
        self._outer: Token[Calling | None] = CURRENT.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            CURRENT.reset(self._outer)
        except ValueError:  # a coroutine may end in another context than it began in
            before = self._outer.old_value
            CURRENT.set(None if before is Token.MISSING else before)
        if self._decision is None:
            self.interrupted(kind)

    def interrupted(self, kind: type[BaseException] | None) -> None:
        """End with cancellation, an interrupt, a framework's signal: it goes on its way, and the trace says so."""
        tried: SideEffects = "unknown" if self.rules.effects in ("write", "destructive") else "none"
        reason = "cancelled" if kind is None else kind.__name__
        self.emit(CallCancelled(tool=self.tool, reason=reason, side_effects=tried))
        self.end(Decision(kind="cancelled"))
