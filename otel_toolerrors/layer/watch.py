"""Observing a call that somebody else makes: what fails is classified and recorded, and nothing changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from otel_toolerrors.engine import Decision, classified, foresee
from otel_toolerrors.faults import Fault, classify, classify_result, is_control_flow, redact
from otel_toolerrors.policy import Declaration
from otel_toolerrors.surface import Outcome, neutralise

from .calling import Calling, Route
from .tools import Tool

if TYPE_CHECKING:
    from .run import Run

T = TypeVar("T")

_LIMIT = 300
_log = logging.getLogger("otel_toolerrors")


class Watched:
    """One observed call, as a context manager around it. It lets every exception pass, and raises none of its own."""

    def __init__(
        self, run: Run, tool: Tool | None, name: str, arguments: Mapping[str, Any], *, call_id: str | None,
        key: str | None,
    ) -> None:  # fmt: skip
        known = tool or Tool(name=name, function=_elsewhere, declared=Declaration())
        self._rules = run.layer.fault_rules
        self._calling = Calling(run, Route.of(run, name, known), arguments, call_id, key)
        self._reported: Fault | None = None
        self._value: Any = None
        self._error: Exception | None = None

    def returned(self, value: T) -> T:
        """Look whether the value reports an error, and give it back as it is."""
        self._value = value
        self._reported = classify_result(value, effects=self._calling.rules.effects, rules=self._rules)
        return value

    def raised(self, error: BaseException) -> None:
        """Take note of an exception that somebody handles before it comes out."""
        if not is_control_flow(error):
            self._reported = classify(error, effects=self._calling.rules.effects, rules=self._rules)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Observe what is inside, and keep what it raises for `outcome`; control flow goes on its way."""
        try:
            with self:
                yield
        except Exception as error:
            if is_control_flow(error):
                raise
            self._error = error

    def outcome(self) -> Outcome:
        """Give what happened as an outcome; an exception stands on it as it was raised."""
        calling, error = self._calling, self._error
        if error is None:
            return Outcome(kind="ok", tool=calling.tool, call_id=calling.call_id, value=self._value, attempts=1)
        message = neutralise(redact(str(error)), _LIMIT)
        return Outcome(
            kind="surfaced", tool=calling.tool, call_id=calling.call_id, attempts=1, message=message, error=error
        )

    def __enter__(self) -> Self:
        self._calling.trace.attempt_started(self._calling.tool, 1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is not None and is_control_flow(error):
                self._calling.interrupted(type(error))
            else:
                self._record(error)
        except Exception:  # noqa: BLE001 - an observer changes nothing, whatever befalls it
            _log.exception("a call could not be recorded")

    def _record(self, error: BaseException | None) -> None:
        calling, fault = self._calling, self._reported
        if error is not None:
            fault = classify(error, effects=calling.rules.effects, rules=self._rules)
        calling.trace.attempt_ended(fault)
        if fault is not None:
            calling.emit(classified(calling.tool, 1, fault, foresee(calling, fault)))
        calling.end(Decision(kind="ok" if fault is None else "surfaced", fault=fault, attempts=1))


def _elsewhere() -> None:
    """Stand for a function that others call."""
