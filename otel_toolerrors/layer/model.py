"""Model requests, recovered by the same engine as tool calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from otel_toolerrors.engine import (
    AsyncHands,
    Attempt,
    Climb,
    Decision,
    Hands,
    RunState,
    Silence,
    Surroundings,
    SyncHands,
    adrive,
    drive,
)
from otel_toolerrors.faults import classify, is_control_flow
from otel_toolerrors.models import ModelChooser, Request, converse
from otel_toolerrors.policy import Declaration, RunPolicy
from otel_toolerrors.vocabulary import Event

if TYPE_CHECKING:
    from .run import Run

T = TypeVar("T")
_PATIENT = RunPolicy(stop_on=frozenset(), tool_failures=10**6, corrections=10**6, corrections_in_a_row=10**6)
"""A failed model request is its caller's to handle: it counts for no run breaker."""


class Model(Generic[T]):
    """Asks a model, with recovery. Made by `Run.model`.

    ``ask(model=..., max_tokens=..., **request)`` sends one request. It is sent again after what passes by itself,
    with fewer output tokens after a context overflow, and to the next model after repeated overloads. The client's
    own retries must be off (``max_retries=0``), or they multiply with ours.
    """

    def __init__(self, run: Run, ask: Callable[..., T], chooser: ModelChooser, name: str) -> None:
        self._run = run
        self._ask = ask
        self._chooser = chooser
        self._state = RunState(run.policy.run.overlaid(_PATIENT))
        rules = run.layer.rules_for(name, Declaration(effects="idempotent"), run.source, policy=run.policy)
        self._rules = replace(rules, run=self._state.policy)
        self._hands = Hands(run.layer.clock, self._judge, lambda _attempt, _value: None, is_control_flow)

    def call(self, *, max_tokens: int | None = None, **request: Any) -> T:
        """Send a request, blocking.

        Raises:
            Exception: What the client raised last, when recovery is at its end.
        """
        last = _Last()
        layer = self._run.layer
        do = SyncHands(lambda attempt: last.keep(self._send, attempt, request), layer.sleep, lambda _name: False)
        decision = drive(self._converse(max_tokens), self._hands, do, Silence())
        return last.settle(decision)  # type: ignore[no-any-return]

    async def acall(self: Model[Awaitable[T]], *, max_tokens: int | None = None, **request: Any) -> T:
        """Send a request in the current task.

        Raises:
            Exception: What the client raised last, when recovery is at its end.
        """
        last = _Last()
        layer = self._run.layer
        do = AsyncHands(lambda attempt: last.akeep(self._send, attempt, request), layer.asleep, _no_refresh)
        decision = await adrive(self._converse(max_tokens), self._hands, do, Silence())
        return last.settle(decision)  # type: ignore[no-any-return]

    def _converse(self, max_tokens: int | None) -> Climb:
        run, layer = self._run, self._run.layer
        around = Surroundings(self._state, layer.services, layer.random, lambda _tool: None, layer.cache)
        self._state.stopped = run.halted
        return converse(
            Request(max_tokens),
            self._rules,
            around,
            chooser=self._chooser,
            policy=run.policy.models,
            now=layer.clock(),
            emit=self._emit,
        )

    def _send(self, attempt: Attempt, request: dict[str, Any]) -> Any:
        said = {name: value for name, value in attempt.arguments.items() if value is not None}
        return self._ask(**said, **request)

    def _judge(self, attempt: Attempt, error: Exception) -> Any:
        return classify(error, effects=attempt.effects, rules=self._run.layer.fault_rules)

    def _emit(self, event: Event) -> None:
        self._run.trace.event(event)
        self._run.layer.notify(event)


class _Last:
    """What the client did last."""

    def __init__(self) -> None:
        self._error: Exception | None = None

    def keep(self, send: Callable[..., Any], attempt: Attempt, request: dict[str, Any]) -> Any:
        try:
            return send(attempt, request)
        except Exception as error:
            self._error = error
            raise

    async def akeep(self, send: Callable[..., Any], attempt: Attempt, request: dict[str, Any]) -> Any:
        try:
            async with asyncio.timeout(attempt.timeout):
                return await send(attempt, request)
        except Exception as error:
            self._error = error
            raise

    def settle(self, decision: Decision) -> Any:
        if decision.kind == "ok":
            return decision.value
        if self._error is not None:
            raise self._error
        reason = decision.fault.message if decision.fault is not None else "the run has stopped"
        raise ModelUnavailable(f"the model was not asked: {reason}")


class ModelUnavailable(Exception):  # noqa: N818 - it names a state
    """No request was sent: the service's breaker is open, its pacing does not fit, or the run has stopped."""


async def _no_refresh(_credential: str) -> bool:
    return False
