"""The escalation ladder: retry, fall back, degrade, surface or stop. Sans-IO.

`climb` is a generator. It yields what it wants done (`Attempt`, `Sleep`,
`Refresh`), is sent what came of it (`Succeeded`, `Failed`, `Done`), and returns
a `Decision`. It reads no clock, calls no tool and knows no telemetry: the sync
and async drivers, replay and simulation all run this code.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Fallback, Terminal, ToolRules
from otel_toolerrors.vocabulary import BreakerMoved, FallbackUsed, Foresight, RunStopped, StopReason, ToolDegraded

from .actions import Action, Call, Decision, Reply, Succeeded
from .attempts import Attempts, Emit
from .breaker import Rejection
from .reports import held_back
from .retry import Attempted, may_have_happened, refusal
from .run import Stop
from .surroundings import Surroundings

Climb = Generator[Action, Reply, Decision]

_ANSWERS = frozenset({"validation", "not_found"})
"""Faults that answer the model: it can act on them, so nothing stands in for them."""

_TERMINAL: dict[str, Terminal] = {
    "permission": "permission",
    "transient": "exhausted",
    "rate_limited": "exhausted",
    "permanent": "permanent",
}


def climb(call: Call, rules: ToolRules, around: Surroundings, now: float, emit: Emit) -> Climb:
    """Decide one logical call that begins at ``now``; ``emit`` is told of every decision on the way."""
    if around.run.stopped is not None:
        return Decision(kind="cancelled", stop=around.run.stopped.reason)
    if call.tool in around.run.degraded:
        return Decision(kind="degraded", fault=held_back("tool.degraded", "given up for this run", rules, None))
    attempts = Attempts(call, rules, around, now, emit)
    settled = yield from attempts.retry()
    if isinstance(settled, Succeeded):
        return _succeed(attempts, settled.value)
    decision = yield from _stand_in(attempts, settled)
    decision = decision or _degrade(attempts, settled) or fail(call, rules, around, settled, emit)
    return replace(decision, attempts=len(attempts.tried), tried=tuple(attempts.tried), refusal=attempts.refused)


def _succeed(attempts: Attempts, value: Any) -> Decision:
    around, rules = attempts.around, attempts.rules
    around.run.succeeded(rules.tool)
    if rules.cache_ttl is not None:
        around.cache.keep(attempts.call.target, value, attempts.now)
    tried = attempts.tried
    return Decision(kind="ok", value=value, fault=attempts.last_fault, attempts=len(tried), tried=tuple(tried))


def _stand_in(attempts: Attempts, fault: Fault) -> Generator[Action, Reply, Decision | None]:
    """Rung 2: another tool, then the last good result. Never after a write that may have happened."""
    if fault.category in _ANSWERS or fault.category == "permission" or may_have_happened(fault):
        return None
    around, call = attempts.around, attempts.call
    for fallback in attempts.rules.fallback:
        rules = around.rules_for(fallback.tool)
        if rules is None or fallback.tool in around.run.degraded:
            continue
        service = around.services.get(rules.service)
        reply = yield from attempts.attempt(rules, service, _adapt(fallback, call.arguments))
        if isinstance(reply, Rejection):
            continue
        good = isinstance(reply, Succeeded)
        attempts.emit(_used(attempts, fallback.tool, fault, good=good, quality=fallback.quality))
        if isinstance(reply, Succeeded):
            return _stood_in(attempts, reply.value, fault, fallback.tool, fallback.quality)
        if may_have_happened(reply):  # the model must hear of this one, and nothing else may be tried
            return fail(call, attempts.rules, around, reply, attempts.emit)
    return _recall(attempts, fault)


def _recall(attempts: Attempts, fault: Fault) -> Decision | None:
    ttl, around = attempts.rules.cache_ttl, attempts.around
    kept = None if ttl is None else around.cache.recall(attempts.call.target, ttl, attempts.now)
    if kept is None:
        return None
    attempts.emit(_used(attempts, "cache", fault, good=True, quality="stale", age=kept.age))
    return replace(_stood_in(attempts, kept.value, fault, "cache", "stale"), age=kept.age)


def _used(
    attempts: Attempts, fallback: str, fault: Fault, *, good: bool, quality: str | None, age: float | None = None
) -> FallbackUsed:
    return FallbackUsed(
        tool=attempts.rules.tool, fallback=fallback, succeeded=good, code=fault.code, quality=quality, age=age
    )


def _stood_in(attempts: Attempts, value: Any, fault: Fault, fallback: str, quality: str | None) -> Decision:
    attempts.around.run.succeeded(attempts.rules.tool)
    return Decision(kind="ok", value=value, fault=fault, fallback=fallback, quality=quality)


def _adapt(fallback: Fallback, arguments: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in arguments.items() if name not in fallback.drop}
    return {fallback.arguments.get(name, name): value for name, value in kept.items()}


def _degrade(attempts: Attempts, fault: Fault) -> Decision | None:
    """Rung 3: do without an optional tool for the rest of the run."""
    if not attempts.rules.optional or fault.category in _ANSWERS or may_have_happened(fault):
        return None
    if attempts.around.run.degrade(attempts.rules.tool):
        attempts.emit(ToolDegraded(tool=attempts.rules.tool, code=fault.code))
    return Decision(kind="degraded", fault=fault)


def fail(call: Call, rules: ToolRules, around: Surroundings, fault: Fault, emit: Emit) -> Decision:
    """Rung 4: tell the model, or stop the run. Also for a call that could not be made at all."""
    run, row = around.run, 0
    reason = _stop_reason(fault, rules)
    if reason is None:
        row, reason = run.failed(call.tool, call.target, fault)
        if reason == "run_breaker":
            emit(
                BreakerMoved(
                    breaker="run", name=call.tool, from_state="closed", to_state="open", reason="consecutive",
                    failures=row, calls=row,
                )
            )  # fmt: skip
    if reason is None:
        return Decision(kind="surfaced", fault=fault, failures=row)
    if run.stop(Stop(reason, call.tool, fault)):
        emit(RunStopped(tool=call.tool, reason=reason, category=fault.category, code=fault.code))
    return Decision(kind="stopped", fault=fault, failures=row, stop=reason)


def foresee(call: Call, rules: ToolRules, fault: Fault) -> Foresight:
    """Say what `climb` would do next about a first failure, for a layer that only observes."""
    if refusal(Attempted(fault, 1, rules, keyed=call.key is not None)) is None:
        return "retry"
    return "surface" if _stop_reason(fault, rules) is None else "stop"


def _stop_reason(fault: Fault, rules: ToolRules) -> StopReason | None:
    """Give the reason why this fault ends the run, if the policy says that it does (S0)."""
    reason = _TERMINAL.get(fault.category)
    return reason if reason in rules.run.stop_on else None
