"""How the drivers act for a run: call, wait, refresh, judge."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from otel_toolerrors.engine import AsyncHands, Attempt, Hands, RunState, Surroundings, SyncHands
from otel_toolerrors.faults import Fault, classify, classify_result, is_control_flow
from otel_toolerrors.policy import ToolRules

from .credentials import Refreshes
from .hedges import Hedges
from .tools import Tool

if TYPE_CHECKING:
    from .calling import Calling
    from .layer import RecoveryLayer


_log = logging.getLogger("otel_toolerrors")


class RunHands:
    """What all calls of one run share; made once."""

    def __init__(self, layer: RecoveryLayer, refreshes: Refreshes, state: RunState) -> None:
        self._layer = layer
        self._refreshes = refreshes
        self.around = Surroundings(state, layer.services, layer.random, self._rules_for, layer.cache)
        self._common = Hands(layer.clock, self._judge, self._inspect, is_control_flow)

    def common(self, calling: Calling) -> Hands:
        """Hands for any call: the shared ones, unless the call brings a function of its own."""
        own = calling.tool
        if own is None or own is self._layer.tools.get(own.name):
            return self._common
        return replace(self._common, inspect=partial(self._inspect, own=own))

    def sync(self, calling: Calling) -> SyncHands:
        """Hands for one sync call."""
        return SyncHands(self._caller(calling, _call), self._layer.sleep, self._refreshes.refresh)

    def asynchronous(self, calling: Calling) -> AsyncHands:
        """Hands for one async call."""
        hedges = Hedges(self._layer.asleep, calling.emit)
        return AsyncHands(self._caller(calling, hedges.call), self._layer.asleep, self._refreshes.arefresh)

    def _caller(self, calling: Calling, call: Callable[[Tool, Attempt], Any]) -> Callable[[Attempt], Any]:
        own, name = calling.tool, calling.name

        def attempt(action: Attempt) -> Any:
            tool = own if action.tool == name and own is not None else self._layer.tools[action.tool]
            return call(tool, action)

        return attempt

    def _rules_for(self, name: str) -> ToolRules | None:
        tool = self._layer.tools.get(name)
        return None if tool is None else self._layer.rules_for(name, tool.declared, "fallback")

    def _judge(self, attempt: Attempt, error: Exception) -> Fault:
        try:
            return classify(error, effects=attempt.effects, rules=self._layer.fault_rules)
        except Exception:  # noqa: BLE001 - a defect of ours is an unknown fault, which nothing repeats
            _log.exception("an error could not be classified")
            return Fault(
                category="unknown", code="unclassified", passing=False, side_effects="unknown", effects=attempt.effects,
                message=type(error).__qualname__, fingerprint="unclassified", signal="rule", strength="weak",
            )  # fmt: skip

    def _inspect(self, attempt: Attempt, value: Any, *, own: Tool | None = None) -> Fault | None:
        tool = own if own is not None and own.name == attempt.tool else self._layer.tools.get(attempt.tool)
        if tool is None or tool.in_band is False:
            return None
        if callable(tool.in_band) and not tool.in_band(value):
            return None
        try:
            return classify_result(value, effects=attempt.effects, rules=self._layer.fault_rules)
        except Exception:  # noqa: BLE001 - as above; what cannot be read is taken for what the tool returned
            _log.exception("a result could not be inspected")
            return None


def _call(tool: Tool, attempt: Attempt) -> Any:
    if attempt.timeout is None:
        return tool.function(**attempt.arguments)
    return _call_in_time(tool, attempt, attempt.timeout)


def _call_in_time(tool: Tool, attempt: Attempt, timeout: float) -> Any:
    """Call in a thread of its own. A thread cannot be stopped: after the timeout it runs on, and may still commit."""
    result: Future[Any] = Future()
    context = copy_context()

    def work() -> None:
        try:
            result.set_result(context.run(tool.function, **attempt.arguments))
        except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
            result.set_exception(error)

    Thread(target=work, name=f"toolerrors-{tool.name}", daemon=True).start()
    return result.result(timeout)
