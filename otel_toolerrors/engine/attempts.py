"""Rung 1 of the ladder: one call's attempts, until one works or there is a reason to give up."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import ToolRules
from otel_toolerrors.vocabulary import (
    BreakerMoved,
    BreakerRejected,
    BudgetExhausted,
    CredentialsRefreshed,
    Event,
    RefusalReason,
    RetryBasis,
    WaitHeartbeat,
)

from .actions import Action, Attempt, Call, Done, Failed, Refresh, Reply, Sleep, Succeeded
from .backoff import backoff
from .breaker import Rejection
from .budget import Hold
from .reports import PACED, classified, held_back, refused, scheduled
from .retry import Attempted, refusal
from .services import Service
from .surroundings import Surroundings

UNAUTHORIZED = 401
Emit = Callable[[Event], None]

_WELL: dict[str, bool | None] = {
    "transient": False,
    "rate_limited": None,  # pacing answers it; a busy service is not a sick one
    "bug": None,  # says nothing about the service
    "unknown": None,
    "cancelled": None,
}
"""What a fault tells about its service's health. A category not named here is an answer: the service is well."""

Settled = Generator[Action, Reply, Succeeded | Fault]


class Attempts:
    """Makes the attempts of one call and keeps count of them. Time comes in with the replies."""

    __slots__ = (
        "_emit",
        "around",
        "call",
        "deadline",
        "fresh",
        "last_fault",
        "now",
        "refused",
        "rules",
        "service",
        "tried",
    )

    def __init__(self, call: Call, rules: ToolRules, around: Surroundings, now: float, emit: Emit) -> None:
        self.call = call
        self.rules = rules
        self.around = around
        self._emit = emit
        self.service: Service = around.services.get(rules.service)
        self.now = now
        self.deadline = now + (rules.retry.persistent_cap if rules.retry.persistent else rules.retry.total_timeout)
        self.fresh = rules.credential is None
        """Whether a 401 is final: there is nothing to refresh, or it has been."""
        self.tried: list[str] = []
        self.last_fault: Fault | None = None
        self.refused: RefusalReason | None = None

    def retry(self) -> Settled:
        """Attempt the call until it works or there is a reason not to go on."""
        hold: Hold | None = None
        waited: float | None = None
        try:
            while True:
                before = self.last_fault
                reply = yield from self._try_once()
                if isinstance(reply, Succeeded):
                    self._pay_in(hold)
                    hold = None
                    return reply
                if isinstance(reply, Rejection):
                    self.refused = "breaker"
                    return before or _resting(self.rules, reply)
                self._pay_off(hold)
                hold = None
                if self.refused or (plan := self._plan(reply, waited)) is None:
                    return reply
                waited, hold = plan
                if not (yield from self._sleep(waited)):
                    self._refuse("run", reply)
                    return reply
        finally:
            self._pay_off(hold)  # cancelled while it waited

    def _try_once(self) -> Generator[Action, Reply, Succeeded | Fault | Rejection]:
        """Attempt when the service's pacing lets us; after a 401, once more with fresh credentials."""
        if (too_long := (yield from self._pace())) is not None:
            return self.last_fault or too_long
        reply = yield from self.attempt(self.rules, self.service, self.call.arguments)
        if self.fresh or not isinstance(reply, Fault) or reply.http_status != UNAUTHORIZED:
            return reply
        self.fresh = True
        if not (yield from self._refresh(reply)):
            return reply
        return (yield from self.attempt(self.rules, self.service, self.call.arguments))

    def _pay_in(self, hold: Hold | None) -> None:
        if hold is None:
            self.service.budget.credit()
        else:
            self.service.budget.settle(hold, ok=True)

    def _pay_off(self, hold: Hold | None) -> None:
        if hold is not None:
            self.service.budget.settle(hold, ok=False)

    def attempt(
        self, rules: ToolRules, service: Service, arguments: Mapping[str, Any]
    ) -> Generator[Action, Reply, Succeeded | Fault | Rejection]:
        """Make one attempt, if the breaker of its service lets it pass."""
        ticket = self._admit(rules, service)
        if isinstance(ticket, Rejection):
            return ticket
        self.tried.append(rules.tool)
        began, reply = self.now, None
        retry = rules.retry
        hedge = retry.hedge_after if rules.effects in ("read", "idempotent") else None
        attempt = Attempt(rules.tool, len(self.tried), arguments, rules.effects, retry.attempt_timeout, hedge)
        try:
            reply = yield attempt
        finally:
            if reply is None:  # cancelled: says nothing about the service
                service.breaker.release(ticket)
        self.now = reply.now
        if isinstance(reply, Succeeded):
            self._settle(service, ticket, began, well=True)
            return reply
        if isinstance(reply, Failed):
            self.last_fault = reply.fault
            self.emit(classified(rules.tool, len(self.tried), reply.fault))
            self._settle(service, ticket, began, well=_WELL.get(reply.fault.category, True))
            return reply.fault
        msg = "a driver answers an Attempt with Succeeded or Failed"
        raise TypeError(msg)

    def emit(self, *events: Event) -> None:
        """Report."""
        for event in events:
            self._emit(event)

    def _admit(self, rules: ToolRules, service: Service) -> int | Rejection:
        moves: list[BreakerMoved] = []
        ticket = service.breaker.admit(self.now, moves.append)
        if moves:
            self.emit(*moves)
        if isinstance(ticket, Rejection):
            self.emit(
                BreakerRejected(
                    tool=rules.tool, breaker="service", name=rules.service, state=ticket.state,
                    retry_after=ticket.retry_after,
                )
            )  # fmt: skip
        return ticket

    def _settle(self, service: Service, ticket: int, began: float, *, well: bool | None) -> None:
        if well is None:
            service.breaker.release(ticket)
            return
        moves: list[BreakerMoved] = []
        service.breaker.record(ticket, ok=well, seconds=self.now - began, now=self.now, report=moves.append)
        if moves:
            self.emit(*moves)

    def _pace(self) -> Generator[Action, Reply, Fault | None]:
        """Wait with everybody else after a rate limit; a fault if this call may not wait that long."""
        wait = self.service.pacer.wait(self.now, self.around.random)
        if not wait:
            return None
        fault = held_back(PACED, f"{self.rules.service} asked callers to wait", self.rules, wait)
        if self.rules.foreground and self.now + wait <= self.deadline:
            self.emit(scheduled(self.rules.tool, len(self.tried), fault, wait, "pacing"))
            if (yield from self._sleep(wait)):
                return None
            self._refuse("run", fault)
        else:
            self._refuse("deadline" if self.rules.foreground else "source", fault, wait)
        return fault

    def _refresh(self, fault: Fault) -> Generator[Action, Reply, bool]:
        credential = self.rules.credential or ""
        reply = yield Refresh(credential)
        self.now = reply.now
        renewed = isinstance(reply, Done) and reply.ok
        self.emit(CredentialsRefreshed(tool=self.rules.tool, credential=credential, succeeded=renewed))
        if renewed:
            self.emit(scheduled(self.rules.tool, len(self.tried), fault, 0.0, "credentials"))
        return renewed

    def _plan(self, fault: Fault, waited: float | None) -> tuple[float, Hold] | None:
        """Take a place in the queue of retries, or say why not. The deadline is checked before anyone sleeps."""
        delay, basis = self._delay(fault, waited)
        reason = refusal(Attempted(fault, len(self.tried), self.rules, keyed=self.call.key is not None))
        if reason is None and (self.now + delay > self.deadline or delay > self.rules.retry.retry_after_cap):
            reason = "deadline"
        if reason is None and self.service.breaker.rejects(self.now + delay):
            reason = "breaker"
        hold = None if reason else self.service.budget.take(throttled=fault.category == "rate_limited")
        if hold is None:
            if reason is None:
                tokens = self.service.budget.tokens
                self.emit(BudgetExhausted(tool=self.rules.tool, service=self.rules.service, tokens=tokens))
            self._refuse(reason or "budget", fault, delay if reason == "deadline" else None)
            return None
        if fault.category == "rate_limited":
            self.service.pacer.limited(self.now, delay)
        self.emit(scheduled(self.rules.tool, len(self.tried), fault, delay, basis))
        return delay, hold

    def _delay(self, fault: Fault, waited: float | None) -> tuple[float, RetryBasis]:
        if fault.retry_after:
            return fault.retry_after, "retry_after"
        basis: RetryBasis = "persistent" if self.rules.retry.persistent else "backoff"
        return backoff(self.rules.retry, len(self.tried), self.around.random, waited), basis

    def _sleep(self, seconds: float) -> Generator[Action, Reply, bool]:
        """Wait, in pieces with a heartbeat when unattended; false when the run has stopped meanwhile."""
        retry, left = self.rules.retry, seconds
        while left > 0 and self.around.run.stopped is None:
            piece = min(left, retry.heartbeat) if retry.persistent else left
            reply = yield Sleep(piece)
            self.now = reply.now
            left -= piece
            if retry.persistent and left > 0:
                self.emit(WaitHeartbeat(tool=self.rules.tool, waited=seconds - left, remaining=left))
        return self.around.run.stopped is None

    def _refuse(self, reason: RefusalReason, fault: Fault, delay: float | None = None) -> None:
        self.refused = reason
        self.emit(refused(self.rules.tool, len(self.tried), fault, reason, delay))


def _resting(rules: ToolRules, rejection: Rejection) -> Fault:
    return held_back("breaker.open", f"{rules.service} is not answering; calls rest", rules, rejection.retry_after)
