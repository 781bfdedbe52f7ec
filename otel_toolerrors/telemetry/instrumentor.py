"""`ToolErrorsInstrumentor`: see the errors of tool calls without changing a line, nor a behaviour.

Run a program under ``opentelemetry-instrument``, or call
``ToolErrorsInstrumentor().instrument()``. Each framework that is installed and has
an observer gets it: the observer classifies and records what fails, and decides
nothing.

An observer is found by its entry point in the group ``otel_toolerrors.observers``,
whose name is the framework's top-level module. It is a function that takes a
`Tracing`, hooks into the framework, and returns the function that takes the hooks
out again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, ClassVar, Final

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from .guard import log
from .signals import EventSignal
from .tracing import Tracing

Observer = Callable[[Tracing], Callable[[], None]]
"""Hooks into a framework, and returns how to take the hooks out."""

OBSERVERS: Final = "otel_toolerrors.observers"
"""The entry point group of observers."""

_DISABLED: Final = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"


@dataclass(frozen=True, slots=True)
class InstrumentorOptions:
    """What a declarative configuration file may say under ``instrumentation/development.python.toolerrors``."""

    event_signal: str | None = None
    """``span``, ``logs`` or ``both``."""
    frameworks: list[str] | None = None
    """Names of the only observers wanted."""


class ToolErrorsInstrumentor:
    """Observe mode for every framework that is installed.

    It has the shape of OpenTelemetry's ``BaseInstrumentor`` without inheriting from it,
    so that nothing more need be installed. There is one for a process, however often it
    is made. ``OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=toolerrors`` leaves all of it out,
    ``toolerrors-langchain`` one framework.
    """

    configuration: ClassVar = InstrumentorOptions
    _undo: ClassVar[list[Callable[[], None]] | None] = None

    @property
    def is_instrumented_by_opentelemetry(self) -> bool:
        """Whether observers are in place."""
        return self._undo is not None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Nothing: each observer looks for its own framework."""
        return ()

    def instrument(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        event_signal: EventSignal | None = None,
        frameworks: Collection[str] | None = None,
        **_: Any,
    ) -> None:
        """Put the observers in place, only those of ``frameworks`` if given; providers default to the global ones.

        An observer that fails is left out, with a warning. Unknown arguments are ignored,
        as OpenTelemetry's launchers pass arguments that not every instrumentor knows.
        """
        if self._undo is not None:
            log.warning("tool errors are observed already")
            return
        tracing = Tracing(tracer_provider, meter_provider, logger_provider, event_signal=event_signal)
        undo = [_put_in_place(point, tracing) for point in _wanted(frameworks)]
        ToolErrorsInstrumentor._undo = [take_out for take_out in undo if take_out is not None]

    def uninstrument(self, **_: Any) -> None:
        """Take the observers out again, in the opposite order."""
        if self._undo is None:
            log.warning("tool errors are not observed")
            return
        undo, ToolErrorsInstrumentor._undo = self._undo, None
        for take_out in reversed(undo):
            try:
                take_out()
            except Exception:  # noqa: BLE001 - the others must still be taken out
                log.exception("an observer could not be taken out")


def _wanted(frameworks: Collection[str] | None) -> list[EntryPoint]:
    """The observers of installed frameworks that nobody disabled, by name."""
    disabled = {name.strip() for name in os.environ.get(_DISABLED, "").split(",")}
    points = sorted(entry_points(group=OBSERVERS), key=lambda point: point.name)
    return [
        point
        for point in points
        if (frameworks is None or point.name in frameworks)
        and f"toolerrors-{point.name}" not in disabled
        and _is_installed(point.name)
    ]


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _put_in_place(point: EntryPoint, tracing: Tracing) -> Callable[[], None] | None:
    try:
        observer: Observer = point.load()
        return observer(tracing)
    except Exception:  # noqa: BLE001 - a framework that changed must not keep the program from starting
        log.exception("the observer of %s could not be put in place", point.name)
        return None
