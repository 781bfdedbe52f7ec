"""Who makes spans: one trace for a run, one for each of its calls."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Token
from time import perf_counter
from typing import Final

from opentelemetry import context as otel_context
from opentelemetry._logs import LoggerProvider
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import (
    Span,
    Status,
    StatusCode,
    TracerProvider,
    format_trace_id,
    get_current_span,
    set_span_in_context,
)

from otel_toolerrors.engine.locks import new_lock
from otel_toolerrors.vocabulary import CallSpan, Event, RunSpan

from .call_trace import SILENT, CallTrace, Failures, RecordedCall
from .context import is_foreign, restore, suppressed
from .guard import guarded, log, render
from .instruments import UNKNOWN_TOOL
from .signals import EventSignal, Signals, check_event_signal, resolve

_RUN: Final = otel_context.create_key("toolerrors-run")
_ADOPTED: Final = otel_context.create_key("toolerrors-adopted")


class Tracing:
    """Makes the traces of runs.

    ``None`` for a provider means the global one, looked up when it is first needed,
    so that OpenTelemetry may be set up after this object is made; for ``event_signal``
    it means what ``configure()`` was told, or ``span``. While there is
    nothing but the API, a call costs a look-up and no attribute is built.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        *,
        event_signal: EventSignal | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        check_event_signal(event_signal)
        self._tracer_provider = tracer_provider
        self._meter_provider = meter_provider
        self._logger_provider = logger_provider
        self._event_signal = event_signal
        self._clock = clock
        self._signals: Signals | None = None
        self._lock = new_lock()

    def start_run(self, agent: str | None) -> RunTrace:
        """Open ``invoke_agent {agent}``, unless a framework's own span for it is current. Never raises.

        The run's calls are its children from now on; other spans are after `RunTrace.activate`.
        """
        run = RunTrace(self)
        run.begin(agent)
        return run

    def signals(self) -> Signals | None:
        """Where telemetry goes; None while it goes nowhere. Never raises."""
        if self._signals is None:
            providers = self._tracer_provider, self._meter_provider, self._logger_provider
            try:
                signals = resolve(*providers, event_signal=self._event_signal, clock=self._clock)
            except Exception:  # noqa: BLE001 - a provider that cannot even be looked up
                log.debug("telemetry dropped", exc_info=True)
                return None
            with self._lock:  # two threads may have come here; one set of instruments is enough
                if self._signals is None:
                    self._signals = signals
        return self._signals


class RunTrace:
    """The trace of one run. Its calls are its children, whichever thread or task makes them."""

    def __init__(self, tracing: Tracing) -> None:
        self._signals = tracing.signals()
        """Looked up once: a run that begins before telemetry is set up stays silent."""
        self._span: Span | None = None
        self._owned = False
        self._context: Context | None = None
        self._token: Token[Context] | None = None
        self._failures = Failures()

    @property
    def trace_id(self) -> str:
        """32 hex digits, or empty if there is no tracer."""
        context = self._span.get_span_context() if self._span is not None else None
        return format_trace_id(context.trace_id) if context is not None and context.is_valid else ""

    def drop(self, error: Exception) -> None:
        """Count a failure of our own, if there is anything to count it with."""
        if self._signals is not None:
            self._signals.drop(error)

    @guarded
    def begin(self, agent: str | None) -> None:
        """Open or adopt the run's span."""
        signals = self._signals
        current = otel_context.get_current()
        if signals is None or suppressed(current):
            return
        span = get_current_span(current)
        if not is_foreign(span, RunSpan.OPERATION):
            span = signals.tracer.start_span(f"{RunSpan.OPERATION} {agent}" if agent else RunSpan.OPERATION, current)
            self._owned = True
        self._span = span
        self._context = otel_context.set_value(_RUN, self, set_span_in_context(span, current))

    @guarded
    def activate(self) -> None:
        """Make the run's span current here until `end`: other spans, such as a model's, become its children too."""
        if self._context is not None and self._token is None:
            self._token = otel_context.attach(self._context)

    def start_call(self, tool: str, *, service: str, known: bool = True) -> CallTrace:
        """Open ``execute_tool {tool}`` and make it current, or add to a framework's own span for it. Never raises.

        ``known=False``: a model made the name up, so it must not become a label or a span's name.
        """
        try:
            signals = self._signals
            if signals is None:
                return SILENT
            if known:
                signals.instruments.register(tool)
            else:
                service = UNKNOWN_TOOL
            return self._start_call(signals, tool, service)
        except Exception as error:  # noqa: BLE001 - a fault of telemetry never changes a tool's result
            self.drop(error)
            return SILENT

    def _start_call(self, signals: Signals, tool: str, service: str) -> CallTrace:
        parent = otel_context.get_current()
        if parent is not self._context:  # else the run itself calls, which needs no look at anything
            if suppressed(parent):
                return SILENT
            span = get_current_span(parent)
            if span is not self._span and parent.get(_ADOPTED) is not span and is_foreign(span, CallSpan.OPERATION):
                context = otel_context.set_value(_ADOPTED, span, parent)
                return RecordedCall(self._failures, signals, span, context, owned=False, tool=tool, service=service)
            if self._context is not None and parent.get(_RUN) is not self:
                parent = self._context  # for threads and tasks that did not inherit it
        # A sampler finds operation and tool in the name. Attributes come once, at the end: twice costs a fifth more.
        span = signals.tracer.start_span(f"{CallSpan.OPERATION} {signals.instruments.label(tool)}", parent)
        context = set_span_in_context(span, parent)
        return RecordedCall(self._failures, signals, span, context, owned=True, tool=tool, service=service)

    @guarded
    def event(self, event: Event) -> None:
        """Send an event of the run itself."""
        signals = self._signals
        if signals is not None and self._span is not None and self._context is not None:
            signals.emit(event, self._span, self._context)

    @guarded
    def end(self, span: Callable[[], RunSpan]) -> None:
        """Describe the run and end its span if we made it; ``span`` is only called if somebody wants what it builds."""
        run, self._span = self._span, None
        if run is None:
            return
        if self._token is not None:
            restore(self._token)
        if run.is_recording():
            self._describe(run, span)
        if self._owned:
            run.end()

    @guarded
    def _describe(self, run: Span, span: Callable[[], RunSpan]) -> None:
        record = span()
        attributes = render(record)
        if not self._owned:
            attributes = {key: value for key, value in attributes.items() if key.startswith("toolerrors.")}
        run.set_attributes(attributes)
        if self._owned and record.error_type is not None:
            run.set_status(Status(StatusCode.ERROR))
