"""The ladder of a model request: the tools' ladder, with two more rungs. Sans-IO.

Between attempts a request may be changed: fewer output tokens after a context
overflow, another model after repeated overloads. What the ladder below decides
(retries, waits, breaker, budget) stays what it is for tools.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from otel_toolerrors.engine import (
    Action,
    Attempt,
    Call,
    Climb,
    Decision,
    Failed,
    Reply,
    Succeeded,
    Surroundings,
    climb,
)
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import ModelPolicy, ToolRules
from otel_toolerrors.vocabulary import ContextOverflowed, Event

from .fallback import ModelChooser, is_overload
from .overflow import parse_overflow


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a model, as far as recovery may change it."""

    max_tokens: int | None


def converse(
    request: Request,
    rules: ToolRules,
    around: Surroundings,
    *,
    chooser: ModelChooser,
    policy: ModelPolicy,
    now: float,
    emit: Callable[[Event], None],
) -> Climb:
    """Decide one model request that begins at ``now``. Each `Attempt` carries ``model`` and ``max_tokens``."""
    fitted = False
    while True:
        choice = chooser.choose(now)
        if choice.switched is not None:
            emit(choice.switched)
        arguments = {"model": choice.model, "max_tokens": request.max_tokens}
        watch = _Watch(chooser, choice.model, emit, now)
        decision = yield from watch.over(
            climb(Call(rules.tool, arguments, rules=rules, around=around, now=now, emit=emit))
        )
        now = watch.now
        fault = decision.fault
        if decision.kind == "ok" or fault is None:
            return decision
        if watch.switched:
            continue
        if fitted or fault.code != "context_overflow":
            return decision
        fitted = True
        room = _room(fault, request, policy, choice.model, emit)
        if room is None:
            return decision
        request = replace(request, max_tokens=room)


@dataclass(slots=True)
class _Watch:
    """Listens to the attempts of one model, and ends them when another one takes over."""

    chooser: ModelChooser
    model: str
    emit: Callable[[Event], None]
    now: float
    switched: bool = False

    def over(self, inner: Climb) -> Generator[Action, Reply, Decision]:
        try:
            action = next(inner)
            while True:
                reply = yield action
                self.now = reply.now
                action = inner.send(self._seen(action, reply))
        except StopIteration as end:
            decision: Decision = end.value
            return decision
        finally:
            inner.close()

    def _seen(self, action: Action, reply: Reply) -> Reply:
        if not isinstance(action, Attempt):
            return reply
        if isinstance(reply, Succeeded):
            self.chooser.succeeded(self.model)
        elif isinstance(reply, Failed) and is_overload(reply.fault):
            switch = self.chooser.overloaded(self.model, reply.now)
            if switch is not None:
                self.emit(switch)
                self.switched = True
                # Not the standard retry: the request goes to the other model at once (S1).
                return Failed(reply.now, replace(reply.fault, passing=False))
        return reply


def _room(fault: Fault, request: Request, policy: ModelPolicy, model: str, emit: Callable[[Event], None]) -> int | None:
    counts = parse_overflow(fault.message)
    room = counts.room(policy.output_floor) if counts is not None else None
    if room is not None and request.max_tokens is not None and room >= request.max_tokens:
        room = None  # it fitted, and was refused all the same: asking again would not help
    emit(
        ContextOverflowed(
            model=model,
            input_tokens=counts.input_tokens if counts else None,
            limit=counts.limit if counts else None,
            max_tokens=room,
        )
    )
    return room
