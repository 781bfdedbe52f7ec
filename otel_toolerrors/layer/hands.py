"""How the drivers act for a layer: call, wait, refresh, judge."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TYPE_CHECKING, Any

from otel_toolerrors.engine import AsyncHands, Attempt, Hands, SyncHands
from otel_toolerrors.faults import Fault, classify, classify_result, is_control_flow

from .calling import CURRENT
from .hedges import acall
from .tools import Tool

if TYPE_CHECKING:
    from .layer import RecoveryLayer


_log = logging.getLogger("otel_toolerrors")


class LayerHands:
    """How all calls of a layer are made. What differs between them they find in the call that is under way."""

    def __init__(self, layer: RecoveryLayer) -> None:
        self._layer = layer
        self.common = Hands(layer.clock, self._judge, self._inspect, is_control_flow)
        self.sync = SyncHands(self._call, layer.sleep, _refresh)
        self.asynchronous = AsyncHands(self._acall, layer.asleep, _arefresh)

    def _tool(self, attempt: Attempt) -> Tool:
        """Find what the attempt calls: the call's own tool, which nobody may have registered, or a fallback."""
        calling = CURRENT.get()
        own = None if calling is None else calling.own
        found = own if own is not None and own.name == attempt.tool else self._layer.tools[attempt.tool]
        attempt.found = found
        return found

    def _call(self, attempt: Attempt) -> Any:
        tool = self._tool(attempt)
        if attempt.timeout is None:
            return tool.function(**attempt.arguments)
        return _call_in_time(tool, attempt, attempt.timeout)

    def _acall(self, attempt: Attempt) -> Awaitable[Any]:
        return acall(self._tool(attempt), attempt, self._layer.asleep)

    def _judge(self, attempt: Attempt, error: Exception) -> Fault:
        try:
            return classify(error, effects=attempt.effects, rules=self._layer.fault_rules)
        except Exception:  # noqa: BLE001 - a defect of ours is an unknown fault, which nothing repeats
            _log.exception("an error could not be classified")
            return Fault(
                category="unknown", code="unclassified", passing=False, side_effects="unknown", effects=attempt.effects,
                message=type(error).__qualname__, fingerprint="unclassified", signal="rule", strength="weak",
            )  # fmt: skip

    def _inspect(self, attempt: Attempt, value: Any) -> Fault | None:
        in_band = attempt.found.in_band
        if in_band is False:
            return None
        try:
            if callable(in_band) and not in_band(value):
                return None
            return classify_result(value, effects=attempt.effects, rules=self._layer.fault_rules)
        except Exception:  # noqa: BLE001 - as above; what cannot be read is taken for what the tool returned
            _log.exception("a result could not be inspected")
            return None


def _refresh(credential: str) -> bool:
    calling = CURRENT.get()
    return calling is not None and calling.run.refreshes.refresh(credential)


async def _arefresh(credential: str) -> bool:
    calling = CURRENT.get()
    return calling is not None and await calling.run.refreshes.arefresh(credential)


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
