"""Where telemetry goes: one tracer, one set of instruments and, if events are log records, one logger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from time import time_ns
from typing import Final, Literal, get_args

from opentelemetry import metrics, trace
from opentelemetry._logs import Logger, LoggerProvider, SeverityNumber, get_logger_provider
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, TracerProvider

from otel_toolerrors.vocabulary import VERSION, ErrorSurfaced, Event, FaultClassified, RunStopped, Scalar

from .guard import log, render
from .instruments import Instruments

EventSignal = Literal["span", "logs", "both"]
"""Where events go: into their span, into log records of the same name, or both."""

SCOPE: Final = "otel_toolerrors"
"""Name of our instrumentation scope."""

_default_event_signal: EventSignal = "span"

_SCOPE_ATTRIBUTES: Final = {"toolerrors.vocabulary.version": VERSION}
_API_ONLY: Final = ("opentelemetry.trace", "opentelemetry.metrics", "opentelemetry._logs")
_WARNINGS: Final = (FaultClassified, ErrorSurfaced, RunStopped)


class Signals:
    """The three signals, resolved from their providers."""

    def __init__(
        self,
        tracer_provider: TracerProvider,
        meter_provider: MeterProvider,
        logger_provider: LoggerProvider | None,
        *,
        span_events: bool,
        clock: Callable[[], float],
    ) -> None:
        version = _version()
        self.tracer = tracer_provider.get_tracer(SCOPE, version, attributes=_SCOPE_ATTRIBUTES)
        self.instruments = Instruments(meter_provider.get_meter(SCOPE, version))
        self.clock = clock
        self._span_events = span_events
        self._logger: Logger | None = None
        if logger_provider is not None:
            self._logger = logger_provider.get_logger(SCOPE, version, attributes=_SCOPE_ATTRIBUTES)

    def emit(self, event: Event, span: Span, context: Context) -> None:
        """Send ``event`` as a span event of ``span``, as a log record in ``context``, or both; count what follows."""
        in_span = self._span_events and span.is_recording()
        if in_span or self._logger is not None:
            attributes = render(event)
            if in_span:
                span.add_event(event.NAME, attributes)
            if self._logger is not None:
                _emit_record(self._logger, event, attributes, context)
        self.instruments.count_event(event, context)

    @property
    def writes_logs(self) -> bool:
        """Whether events are log records too, so that they are wanted even where no span records."""
        return self._logger is not None

    def drop(self, error: Exception) -> None:
        """Count one failure of our own; its text may quote a tool's error, so only its type is logged."""
        self.instruments.count_dropped("internal_error")
        log.warning("telemetry dropped: %s", type(error).__qualname__)
        log.debug("telemetry dropped", exc_info=error)


def _emit_record(logger: Logger, event: Event, attributes: Mapping[str, Scalar], context: Context) -> None:
    severity = SeverityNumber.WARN if isinstance(event, _WARNINGS) else SeverityNumber.INFO
    logger.emit(
        timestamp=time_ns(),  # the SDK leaves it empty
        context=context,
        severity_number=severity,
        attributes=attributes,
        event_name=event.NAME,
    )


def check_event_signal(signal: str | None) -> None:
    """Raise ValueError if ``signal`` is no `EventSignal`."""
    if signal is not None and signal not in get_args(EventSignal):
        raise ValueError(f"event_signal is 'span', 'logs' or 'both', not {signal!r}")


def set_default_event_signal(signal: EventSignal) -> None:
    """Choose where events go for everyone who does not say; ``configure()`` does, with the global providers."""
    global _default_event_signal  # noqa: PLW0603 - it belongs to the global providers
    _default_event_signal = signal


def resolve(
    tracer_provider: TracerProvider | None,
    meter_provider: MeterProvider | None,
    logger_provider: LoggerProvider | None,
    *,
    event_signal: EventSignal | None,
    clock: Callable[[], float],
) -> Signals | None:
    """Resolve the providers, the global ones for ``None``; return None while none of them leads anywhere."""
    tracer_provider = tracer_provider or trace.get_tracer_provider()
    meter_provider = meter_provider or metrics.get_meter_provider()
    event_signal = event_signal or _default_event_signal
    if event_signal == "span":
        logger_provider = None
    elif logger_provider is None:
        logger_provider = get_logger_provider()
    if all(map(_leads_nowhere, (tracer_provider, meter_provider, logger_provider))):
        return None
    return Signals(tracer_provider, meter_provider, logger_provider, span_events=event_signal != "logs", clock=clock)


def _leads_nowhere(provider: object) -> bool:
    """Whether there is no provider, or only the API's own stand-in for one that may still come."""
    return provider is None or type(provider).__module__.startswith(_API_ONLY)


def _version() -> str:
    try:
        return metadata.version("otel-toolerrors")
    except metadata.PackageNotFoundError:  # run from a source tree
        return "0"
