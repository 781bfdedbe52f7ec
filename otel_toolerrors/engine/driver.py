"""The two drivers: they do what the engine asks and tell it what came of it.

They differ in how they call and wait, and in nothing else. Most calls work at
once, so the first attempt is made directly (`make`, `amake`); the generator of
the ladder is climbed (`drive`, `adrive`) where that does not do. A control-flow
exception (cancellation, an interrupt, a framework's signal) is never shown to
the engine: its generator is closed, which settles breaker tickets and budget
holds, and the exception goes on its way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from otel_toolerrors.faults import Fault

from .actions import Action, Attempt, Decision, Done, Failed, Refresh, Reply, Sleep, Succeeded
from .call import Call
from .ladder import Climb, climb, succeed
from .observer import Observer

Judge = Callable[[Attempt, Exception], Fault]
"""Classifies what an attempt raised."""

Inspect = Callable[[Attempt, Any], Fault | None]
"""Looks for an error in what an attempt returned; None: it is a good value."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What a driver needs to act, injected: nothing here is global."""

    clock: Callable[[], float]
    judge: Judge
    inspect: Inspect
    is_control_flow: Callable[[BaseException], bool]


@dataclass(frozen=True, slots=True)
class SyncHands:
    """How a sync driver calls, waits and refreshes."""

    call: Callable[[Attempt], Any]
    sleep: Callable[[float], None]
    refresh: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class AsyncHands:
    """How an async driver calls, waits and refreshes."""

    call: Callable[[Attempt], Awaitable[Any]]
    sleep: Callable[[float], Awaitable[None]]
    refresh: Callable[[str], Awaitable[bool]]


def make(call: Call, hands: Hands, do: SyncHands, observer: Observer) -> Decision:
    """Make one logical call, blocking."""
    first = call.open()
    if first is None:
        return drive(climb(call), hands, do, observer)
    try:
        reply = _try(first, hands, do, observer)
    except BaseException:
        call.release()
        raise
    settled = call.settle(reply)
    if isinstance(settled, Succeeded):
        call.service.budget.credit()
        return succeed(call, settled.value)
    return drive(climb(call, settled), hands, do, observer)


async def amake(call: Call, hands: Hands, do: AsyncHands, observer: Observer) -> Decision:
    """Make one logical call in the current task."""
    first = call.open()
    if first is None:
        return await adrive(climb(call), hands, do, observer)
    try:
        reply = await _atry(first, hands, do, observer)
    except BaseException:
        call.release()
        raise
    settled = call.settle(reply)
    if isinstance(settled, Succeeded):
        call.service.budget.credit()
        return succeed(call, settled.value)
    return await adrive(climb(call, settled), hands, do, observer)


def drive(climb: Climb, hands: Hands, do: SyncHands, observer: Observer) -> Decision:
    """Run a climb to its decision, blocking."""
    try:
        action = next(climb)
        while True:
            action = climb.send(_act(action, hands, do, observer))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        climb.close()


async def adrive(climb: Climb, hands: Hands, do: AsyncHands, observer: Observer) -> Decision:
    """Run a climb to its decision in the current task."""
    try:
        action = next(climb)
        while True:
            action = climb.send(await _aact(action, hands, do, observer))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        climb.close()


def _act(action: Action, hands: Hands, do: SyncHands, observer: Observer) -> Reply:
    match action:
        case Attempt():
            return _try(action, hands, do, observer)
        case Sleep():
            do.sleep(action.seconds)
            return Done(hands.clock())
        case Refresh():
            return Done(hands.clock(), do.refresh(action.credential))


async def _aact(action: Action, hands: Hands, do: AsyncHands, observer: Observer) -> Reply:
    match action:
        case Attempt():
            return await _atry(action, hands, do, observer)
        case Sleep():
            await do.sleep(action.seconds)
            return Done(hands.clock())
        case Refresh():
            return Done(hands.clock(), await do.refresh(action.credential))


def _try(attempt: Attempt, hands: Hands, do: SyncHands, observer: Observer) -> Succeeded | Failed:
    observer.attempt_started(attempt.tool, attempt.number)
    try:
        value = do.call(attempt)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is classified
        return _raised(attempt, error, hands, observer)
    fault = hands.inspect(attempt, value)
    observer.attempt_ended(fault)
    return Succeeded(hands.clock(), value) if fault is None else Failed(hands.clock(), fault)


async def _atry(attempt: Attempt, hands: Hands, do: AsyncHands, observer: Observer) -> Succeeded | Failed:
    observer.attempt_started(attempt.tool, attempt.number)
    try:
        value = await do.call(attempt)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is classified
        return _raised(attempt, error, hands, observer)
    fault = hands.inspect(attempt, value)
    observer.attempt_ended(fault)
    return Succeeded(hands.clock(), value) if fault is None else Failed(hands.clock(), fault)


def _raised(attempt: Attempt, error: Exception, hands: Hands, observer: Observer) -> Succeeded | Failed:
    if hands.is_control_flow(error):
        raise error
    fault = hands.judge(attempt, error)
    observer.attempt_ended(fault)
    return Failed(hands.clock(), fault)
