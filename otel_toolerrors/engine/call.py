"""One logical call on its way: what was asked, what is allowed, and how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import ToolRules
from otel_toolerrors.vocabulary import BreakerMoved, BreakerRejected, Event, RefusalReason

from .actions import Attempt, Failed, Reply, Succeeded
from .breaker import Rejection
from .reports import classified
from .services import Service
from .surroundings import Surroundings

Emit = Callable[[Event], None]


def _ignore(_event: Event) -> None:
    """Listen to nothing."""


_WELL: dict[str, bool | None] = {
    "transient": False,
    "rate_limited": None,  # pacing answers it; a busy service is not a sick one
    "bug": None,  # says nothing about the service
    "unknown": None,
    "cancelled": None,
}
"""What a fault tells about its service's health. A category not named here is an answer: the service is well."""


class Call:
    """One logical call. It makes no attempt by itself, and reads no clock: time comes in with the replies."""

    __slots__ = (
        "_at", "_began", "_emit", "_opened", "_target", "_ticket", "arguments", "around", "fresh", "key",
        "last_fault", "now", "refused", "rules", "service", "tool", "tried",
    )  # fmt: skip

    def __init__(
        self, tool: str, arguments: Mapping[str, Any], rules: ToolRules, around: Surroundings, now: float,
        *, emit: Emit = _ignore, target: str = "", key: str | None = None, service: Service | None = None,
    ) -> None:  # fmt: skip
        self.tool = tool
        self.arguments = arguments
        self.rules = rules
        self.around = around
        self.now = now
        self.key = key
        """Idempotency key: the same on every attempt."""
        self._emit = emit
        self._target = target
        self.service: Service = service or around.services.get(rules.service)
        self._opened = now
        self.fresh = rules.credential is None
        """Whether a 401 is final: there is nothing to refresh, or it has been."""
        self.tried: tuple[str, ...] = ()
        self.last_fault: Fault | None = None
        self.refused: RefusalReason | None = None

    @property
    def deadline(self) -> float:
        """When to give up, on the clock that the replies tell."""
        retry = self.rules.retry
        return self._opened + (retry.persistent_cap if retry.persistent else retry.total_timeout)

    @property
    def target(self) -> str:
        """Keyed digest of tool and arguments: names the call, not what it says."""
        return self._target

    @property
    def keyed(self) -> bool:
        """Whether it carries an idempotency key."""
        return self.key is not None

    def emit(self, event: Event) -> None:
        """Report to whoever listens; a subclass may do it its own way."""
        self._emit(event)

    @property
    def barred(self) -> bool:
        """Whether it must not be made: the run has stopped, or has given the tool up."""
        run = self.around.run
        return run.stopped is not None or self.rules.tool in run.degraded

    def open(self) -> Attempt | None:
        """Begin the first attempt at once, if nothing stands in its way; None: the ladder finds out what does."""
        service = self.service
        ticket = service.breaker.free_ticket
        if ticket is None or self.now < service.pacer.until or self.barred:
            return None
        return self._begin(self.rules, service, ticket, self.arguments)

    def admit(self, rules: ToolRules, service: Service, arguments: Mapping[str, Any]) -> Attempt | Rejection:
        """Begin an attempt, if the breaker of its service lets it pass."""
        moves: list[BreakerMoved] = []
        ticket = service.breaker.admit(self.now, moves.append)
        for move in moves:
            self.emit(move)
        if isinstance(ticket, Rejection):
            self.emit(
                BreakerRejected(
                    tool=rules.tool, breaker="service", name=rules.service, state=ticket.state,
                    retry_after=ticket.retry_after,
                )
            )  # fmt: skip
            return ticket
        return self._begin(rules, service, ticket, arguments)

    def _begin(self, rules: ToolRules, service: Service, ticket: int, arguments: Mapping[str, Any]) -> Attempt:
        self.tried = tried = (*self.tried, rules.tool)
        self._at, self._ticket, self._began = service, ticket, self.now
        return Attempt(rules.tool, len(tried), arguments, rules.effects, rules.attempt_timeout, rules.hedge_after)

    def settle(self, reply: Reply) -> Succeeded | Fault:
        """Take what came of the attempt under way."""
        self.now = now = reply.now
        if isinstance(reply, Succeeded):
            settled: Succeeded | Fault = reply
            well: bool | None = True
        elif isinstance(reply, Failed):
            settled = self.last_fault = reply.fault
            well = _WELL.get(settled.category, True)
            self.emit(classified(self.tried[-1], len(self.tried), settled))
        else:
            msg = "a driver answers an Attempt with Succeeded or Failed"
            raise TypeError(msg)
        if well is None:
            self.release()
            return settled
        move = self._at.breaker.record(self._ticket, ok=well, seconds=now - self._began, now=now)
        if move is not None:
            self.emit(move)
        return settled

    def release(self) -> None:
        """The attempt under way was cancelled: that says nothing about the service."""
        self._at.breaker.release(self._ticket)
