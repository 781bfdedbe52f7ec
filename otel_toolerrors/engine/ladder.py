"""The escalation ladder: retry, fall back, degrade, surface or stop. Sans-IO.

`climb` is a generator. It yields what it wants done (`Attempt`, `Sleep`,
`Refresh`), is sent what came of it (`Succeeded`, `Failed`, `Done`), and returns
a `Decision`. It reads no clock, calls no tool and knows no telemetry: the sync
and async drivers, replay and simulation all run this code.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Fallback, Terminal, ToolRules
from otel_toolerrors.vocabulary import BreakerMoved, FallbackUsed, Foresight, RunStopped, StopReason, ToolDegraded

from .actions import Action, Decision, Reply, Succeeded
from .attempts import attempt, retry
from .breaker import Rejection
from .call import Call
from .reports import held_back
from .retry import Attempted, may_have_happened, refusal
from .run import Stop

Climb = Generator[Action, Reply, Decision]

_ANSWERS = frozenset({"validation", "not_found"})
"""Faults that answer the model: it can act on them, so nothing stands in for them."""

_TERMINAL: dict[str, Terminal] = {
    "permission": "permission",
    "transient": "exhausted",
    "rate_limited": "exhausted",
    "permanent": "permanent",
}


def climb(call: Call, first: Fault | None = None) -> Climb:
    """Decide one logical call. ``first`` is what its first attempt failed with, if that was made already."""
    if first is None and call.barred:
        return _bar(call)
    settled = yield from retry(call, first)
    if isinstance(settled, Succeeded):
        return succeed(call, settled.value)
    decision = yield from _stand_in(call, settled)
    decision = decision or _degrade(call, settled) or fail(call, settled)
    decision.attempts, decision.tried, decision.refusal = len(call.tried), call.tried, call.refused
    return decision


def _bar(call: Call) -> Decision:
    """Decide a call that is barred."""
    stopped, rules = call.around.run.stopped, call.rules
    if stopped is not None:
        return Decision(kind="cancelled", stop=stopped.reason)
    return Decision(kind="degraded", fault=held_back("tool.degraded", "given up for this run", rules, None))


def succeed(call: Call, value: Any) -> Decision:
    """Decide a call whose last attempt worked."""
    around, rules = call.around, call.rules
    around.run.succeeded(rules.tool)
    if rules.cache_ttl is not None:
        around.cache.keep(call.target, value, call.now)
    tried = call.tried
    return Decision("ok", value, call.last_fault, len(tried), tried)  # by position: half the price


def _stand_in(call: Call, fault: Fault) -> Generator[Action, Reply, Decision | None]:
    """Rung 2: another tool, then the last good result. Never after a write that may have happened."""
    if fault.category in _ANSWERS or fault.category == "permission" or may_have_happened(fault):
        return None
    around = call.around
    for fallback in call.rules.fallback:
        rules = around.rules_for(fallback.tool)
        if rules is None or fallback.tool in around.run.degraded:
            continue
        service = around.services.get(rules.service)
        reply = yield from attempt(call, rules, service, _adapt(fallback, call.arguments))
        if isinstance(reply, Rejection):
            continue
        good = isinstance(reply, Succeeded)
        call.emit(_used(call, fallback.tool, fault, good=good, quality=fallback.quality))
        if isinstance(reply, Succeeded):
            return _stood_in(call, reply.value, fault, fallback.tool, fallback.quality)
        if may_have_happened(reply):  # the model must hear of this one, and nothing else may be tried
            return fail(call, reply)
    return _recall(call, fault)


def _recall(call: Call, fault: Fault) -> Decision | None:
    ttl, around = call.rules.cache_ttl, call.around
    kept = None if ttl is None else around.cache.recall(call.target, ttl, call.now)
    if kept is None:
        return None
    call.emit(_used(call, "cache", fault, good=True, quality="stale", age=kept.age))
    decision = _stood_in(call, kept.value, fault, "cache", "stale")
    decision.age = kept.age
    return decision


def _used(
    call: Call, fallback: str, fault: Fault, *, good: bool, quality: str | None, age: float | None = None
) -> FallbackUsed:
    return FallbackUsed(
        tool=call.rules.tool, fallback=fallback, succeeded=good, code=fault.code, quality=quality, age=age
    )


def _stood_in(call: Call, value: Any, fault: Fault, fallback: str, quality: str | None) -> Decision:
    call.around.run.succeeded(call.rules.tool)
    return Decision(kind="ok", value=value, fault=fault, fallback=fallback, quality=quality)


def _adapt(fallback: Fallback, arguments: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in arguments.items() if name not in fallback.drop}
    return {fallback.arguments.get(name, name): value for name, value in kept.items()}


def _degrade(call: Call, fault: Fault) -> Decision | None:
    """Rung 3: do without an optional tool for the rest of the run."""
    if not call.rules.optional or fault.category in _ANSWERS or may_have_happened(fault):
        return None
    if call.around.run.degrade(call.rules.tool):
        call.emit(ToolDegraded(tool=call.rules.tool, code=fault.code))
    return Decision(kind="degraded", fault=fault)


def fail(call: Call, fault: Fault) -> Decision:
    """Rung 4: tell the model, or stop the run. Also for a call that could not be made at all."""
    run, row = call.around.run, 0
    reason = _stop_reason(fault, call.rules)
    if reason is None:
        row, reason = run.failed(call.tool, call.target, fault)
        if reason == "run_breaker":
            call.emit(
                BreakerMoved(
                    breaker="run", name=call.tool, from_state="closed", to_state="open", reason="consecutive",
                    failures=row, calls=row,
                )
            )  # fmt: skip
    if reason is None:
        return Decision(kind="surfaced", fault=fault, failures=row)
    if run.stop(Stop(reason, call.tool, fault)):
        call.emit(RunStopped(tool=call.tool, reason=reason, category=fault.category, code=fault.code))
    return Decision(kind="stopped", fault=fault, failures=row, stop=reason)


def foresee(call: Call, fault: Fault) -> Foresight:
    """Say what `climb` would do next about a first failure, for a layer that only observes."""
    if refusal(Attempted(fault, 1, call.rules, keyed=call.keyed)) is None:
        return "retry"
    return "surface" if _stop_reason(fault, call.rules) is None else "stop"


def _stop_reason(fault: Fault, rules: ToolRules) -> StopReason | None:
    """Give the reason why this fault ends the run, if the policy says that it does (S0)."""
    reason = _TERMINAL.get(fault.category)
    return reason if reason in rules.run.stop_on else None
