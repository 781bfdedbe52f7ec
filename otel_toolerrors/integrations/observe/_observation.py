"""What observers share: a run that only watches, and hooks that can be taken out."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from otel_toolerrors.engine.locks import new_lock
from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.policy import Policy
from otel_toolerrors.telemetry import Tracing

_REMEMBERED = 4_096

_log = logging.getLogger("otel_toolerrors")


@dataclass(frozen=True, slots=True)
class Result:
    """One tool result as a transcript shows it."""

    call_id: str
    tool: str
    error: Any = None
    """What the error says, if the result is one."""


class Observation:
    """One observer at work."""

    def __init__(self, tracing: Tracing) -> None:
        layer = RecoveryLayer(Policy(mode="observe"))
        layer.tracing = tracing
        self.run = layer.alone()
        self.watch = self.run.watch
        self._undo: list[Callable[[], None]] = []
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = new_lock()

    def hook(self, owner: Any, name: str, around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Replace ``owner.name`` by what ``around`` makes of it."""
        original = vars(owner)[name]
        setattr(owner, name, around(original))
        self._undo.append(lambda: setattr(owner, name, original))

    def results(self, shown: Iterable[Result]) -> None:
        """Record results that a model is shown, each of them once, however often the transcript is sent."""
        try:
            for result in shown:
                if not self._knows(result.call_id):
                    with self.watch(result.tool, call_id=result.call_id) as seen:
                        if result.error is not None:
                            seen.returned(result.error)
        except Exception:  # noqa: BLE001 - an observer changes nothing, whatever a transcript looks like
            _log.exception("a transcript could not be read")

    def _knows(self, call_id: str) -> bool:
        with self._lock:
            known = call_id in self._seen
            self._seen[call_id] = None
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
            return known

    def end(self) -> None:
        """Take the hooks out."""
        while self._undo:
            self._undo.pop()()
