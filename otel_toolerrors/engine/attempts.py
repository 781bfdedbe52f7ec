"""Rung 1 of the ladder: one call's attempts, until one works or there is a reason to give up."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import ToolRules
from otel_toolerrors.vocabulary import BudgetExhausted, CredentialsRefreshed, RefusalReason, RetryBasis, WaitHeartbeat

from .actions import Action, Done, Refresh, Reply, Sleep, Succeeded
from .backoff import backoff
from .breaker import Rejection
from .budget import Hold
from .call import Call
from .reports import PACED, held_back, refused, scheduled
from .retry import Attempted, refusal
from .services import Service

UNAUTHORIZED = 401

Settled = Generator[Action, Reply, Succeeded | Fault]


def retry(call: Call, first: Fault | None = None) -> Settled:
    """Attempt the call until it works or there is a reason not to go on; ``first`` failed already."""
    hold: Hold | None = None
    waited: float | None = None
    try:
        while True:
            before = call.last_fault
            reply = yield from _try_once(call, first)
            first = None
            if isinstance(reply, Succeeded):
                _pay_in(call, hold)
                hold = None
                return reply
            if isinstance(reply, Rejection):
                call.refused = "breaker"
                return before or _resting(call.rules, reply)
            _pay_off(call, hold)
            hold = None
            if call.refused or (plan := _plan(call, reply, waited)) is None:
                return reply
            waited, hold = plan
            if not (yield from _sleep(call, waited)):
                _refuse(call, "run", reply)
                return reply
    finally:
        _pay_off(call, hold)  # cancelled while it waited


def attempt(
    call: Call, rules: ToolRules, service: Service, arguments: Mapping[str, Any]
) -> Generator[Action, Reply, Succeeded | Fault | Rejection]:
    """Make one attempt, if the breaker of its service lets it pass."""
    begun = call.admit(rules, service, arguments)
    if isinstance(begun, Rejection):
        return begun
    try:
        reply = yield begun
    except BaseException:
        call.release()
        raise
    return call.settle(reply)


def _try_once(call: Call, first: Fault | None) -> Generator[Action, Reply, Succeeded | Fault | Rejection]:
    """Attempt when the service's pacing lets us; after a 401, once more with fresh credentials."""
    reply: Succeeded | Fault | Rejection
    if first is not None:
        reply = first
    elif (too_long := (yield from _pace(call))) is not None:
        return call.last_fault or too_long
    else:
        reply = yield from attempt(call, call.rules, call.service, call.arguments)
    if call.fresh or not isinstance(reply, Fault) or reply.http_status != UNAUTHORIZED:
        return reply
    call.fresh = True
    if not (yield from _refresh(call, reply)):
        return reply
    return (yield from attempt(call, call.rules, call.service, call.arguments))


def _pay_in(call: Call, hold: Hold | None) -> None:
    """Credit the service's budget: the call worked, at once or with the retry that ``hold`` paid for."""
    if hold is None:
        call.service.budget.credit()
    else:
        call.service.budget.settle(hold, ok=True)


def _pay_off(call: Call, hold: Hold | None) -> None:
    if hold is not None:
        call.service.budget.settle(hold, ok=False)


def _pace(call: Call) -> Generator[Action, Reply, Fault | None]:
    """Wait with everybody else after a rate limit; a fault if this call may not wait that long."""
    wait = call.service.pacer.wait(call.now, call.around.random)
    if not wait:
        return None
    fault = held_back(PACED, f"{call.rules.service} asked callers to wait", call.rules, wait)
    if call.rules.foreground and call.now + wait <= call.deadline:
        call.emit(scheduled(call.rules.tool, len(call.tried), fault, wait, "pacing"))
        if (yield from _sleep(call, wait)):
            return None
        _refuse(call, "run", fault)
    else:
        _refuse(call, "deadline" if call.rules.foreground else "source", fault, wait)
    return fault


def _refresh(call: Call, fault: Fault) -> Generator[Action, Reply, bool]:
    credential = call.rules.credential or ""
    reply = yield Refresh(credential)
    call.now = reply.now
    renewed = isinstance(reply, Done) and reply.ok
    call.emit(CredentialsRefreshed(tool=call.rules.tool, credential=credential, succeeded=renewed))
    if renewed:
        call.emit(scheduled(call.rules.tool, len(call.tried), fault, 0.0, "credentials"))
    return renewed


def _plan(call: Call, fault: Fault, waited: float | None) -> tuple[float, Hold] | None:
    """Take a place in the queue of retries, or say why not. The deadline is checked before anyone sleeps."""
    delay, basis = _delay(call, fault, waited)
    reason = refusal(Attempted(fault, len(call.tried), call.rules, keyed=call.keyed))
    if reason is None and (call.now + delay > call.deadline or delay > call.rules.retry.retry_after_cap):
        reason = "deadline"
    if reason is None and call.service.breaker.rejects(call.now + delay):
        reason = "breaker"
    hold = None if reason else call.service.budget.take(throttled=fault.category == "rate_limited")
    if hold is None:
        if reason is None:
            tokens = call.service.budget.tokens
            call.emit(BudgetExhausted(tool=call.rules.tool, service=call.rules.service, tokens=tokens))
        _refuse(call, reason or "budget", fault, delay if reason == "deadline" else None)
        return None
    if fault.category == "rate_limited":
        call.service.pacer.limited(call.now, delay)
    call.emit(scheduled(call.rules.tool, len(call.tried), fault, delay, basis))
    return delay, hold


def _delay(call: Call, fault: Fault, waited: float | None) -> tuple[float, RetryBasis]:
    if fault.retry_after:
        return fault.retry_after, "retry_after"
    basis: RetryBasis = "persistent" if call.rules.retry.persistent else "backoff"
    return backoff(call.rules.retry, len(call.tried), call.around.random, waited), basis


def _sleep(call: Call, seconds: float) -> Generator[Action, Reply, bool]:
    """Wait, in pieces with a heartbeat when unattended; false when the run has stopped meanwhile."""
    retry, left = call.rules.retry, seconds
    while left > 0 and call.around.run.stopped is None:
        piece = min(left, retry.heartbeat) if retry.persistent else left
        reply = yield Sleep(piece)
        call.now = reply.now
        left -= piece
        if retry.persistent and left > 0:
            call.emit(WaitHeartbeat(tool=call.rules.tool, waited=seconds - left, remaining=left))
    return call.around.run.stopped is None


def _refuse(call: Call, reason: RefusalReason, fault: Fault, delay: float | None = None) -> None:
    call.refused = reason
    call.emit(refused(call.rules.tool, len(call.tried), fault, reason, delay))


def _resting(rules: ToolRules, rejection: Rejection) -> Fault:
    return held_back("breaker.open", f"{rules.service} is not answering; calls rest", rules, rejection.retry_after)
