"""Where the SDK hands over what has ended. Imported only by those who have the SDK."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from opentelemetry.sdk._logs import LogRecordProcessor, ReadWriteLogRecord  # noqa: TID253 - see the module's docstring
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor  # noqa: TID253
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult  # noqa: TID253
from opentelemetry.trace import get_current_span
from typing_extensions import override

from otel_toolerrors.vocabulary import RunSpan

from .outbox import EXIT_TIMEOUT, Drops, Outbox


class SpansToOutbox(SpanProcessor):
    """Puts ended spans into the outbox; the end of a run is written at once."""

    def __init__(self, outbox: Outbox[ReadableSpan]) -> None:
        self._outbox = outbox

    @override
    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self._outbox.put(span)
            if span.name.startswith(RunSpan.OPERATION):
                self._outbox.hurry()

    @override
    def shutdown(self) -> None:
        self._outbox.close(EXIT_TIMEOUT)

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outbox.flush(timeout_millis / 1000)


class LogsToOutbox(LogRecordProcessor):
    """Puts log records into the outbox."""

    def __init__(self, outbox: Outbox[ReadWriteLogRecord]) -> None:
        self._outbox = outbox

    @override
    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        self._outbox.put(log_record)

    @override
    def shutdown(self) -> None:
        self._outbox.close(EXIT_TIMEOUT)

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outbox.flush(timeout_millis / 1000)


class EventsToSpans(LogRecordProcessor):
    """Copies every event (a log record with a name) onto the span it was emitted in, for stores that keep no logs.

    Add it to a ``LoggerProvider`` to see other libraries' events, or ours with
    ``event_signal="logs"``, in Jaeger and Tempo as well.
    """

    @override
    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        record = log_record.log_record
        if not record.event_name:
            return
        span = get_current_span(record.context)
        context = span.get_span_context()
        if span.is_recording() and (context.trace_id, context.span_id) == (record.trace_id, record.span_id):
            span.add_event(record.event_name, record.attributes, record.timestamp or record.observed_timestamp)

    @override
    def shutdown(self) -> None:
        pass

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


class CountedSpanExporter(SpanExporter):
    """Counts the spans that another exporter could not deliver."""

    def __init__(self, exporter: SpanExporter, drops: Drops) -> None:
        self._exporter = exporter
        self._drops = drops

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        with suppress(Exception):  # the processor would only log it, with a traceback for each batch
            result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self._drops.count("export_failed", len(spans))
        return result

    @override
    def shutdown(self) -> None:
        self._exporter.shutdown()

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)
