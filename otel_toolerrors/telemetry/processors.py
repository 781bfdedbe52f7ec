"""Where the SDK hands over what has ended.

These classes have the shape of the SDK's interfaces without inheriting from
them, so that the package imports without the SDK.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace import get_current_span

from otel_toolerrors.engine.locks import new_lock
from otel_toolerrors.vocabulary import RunSpan

from .outbox import EXIT_TIMEOUT, Drops, Outbox, in_forked_children

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadWriteLogRecord
    from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult


class _OfEndedSpans:
    """What a span processor leaves undone that sends spans when they have ended."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Nothing is sent before a span ends."""

    def _on_ending(self, span: Span) -> None:
        """Part of the SDK's interface, though not of its public one."""


class SpansToOutbox(_OfEndedSpans):
    """A span processor that puts ended spans into the outbox. The end of a run is written at once."""

    def __init__(self, outbox: Outbox[ReadableSpan]) -> None:
        self._outbox = outbox

    def on_end(self, span: ReadableSpan) -> None:
        """Hand the span over."""
        if span.context.trace_flags.sampled:
            self._outbox.put(span)
            if span.name.startswith(RunSpan.OPERATION):
                self._outbox.hurry()

    def shutdown(self) -> None:
        """Write what waits, and stop."""
        self._outbox.close(EXIT_TIMEOUT)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what waits."""
        return self._outbox.flush(timeout_millis / 1000)


class LogsToOutbox:
    """A log record processor that puts records into the outbox."""

    def __init__(self, outbox: Outbox[ReadWriteLogRecord]) -> None:
        self._outbox = outbox

    def enabled(self, **_: object) -> bool:
        """Every record is wanted."""
        return True

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        """Hand the record over."""
        self._outbox.put(log_record)

    def shutdown(self) -> None:
        """Write what waits, and stop."""
        self._outbox.close(EXIT_TIMEOUT)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what waits."""
        return self._outbox.flush(timeout_millis / 1000)


class EventsToSpans:
    """A log record processor that copies every event (a record with a name) onto the span it was emitted in."""

    def enabled(self, **_: object) -> bool:
        """Every event is wanted."""
        return True

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        """Copy the record, if it is an event of a span that is still open and current where it was emitted."""
        record = log_record.log_record
        if not record.event_name:
            return
        span = get_current_span(record.context)
        context = span.get_span_context()
        if span.is_recording() and (context.trace_id, context.span_id) == (record.trace_id, record.span_id):
            span.add_event(record.event_name, record.attributes, record.timestamp or record.observed_timestamp)

    def shutdown(self) -> None:
        """Nothing waits."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - part of the interface
        """Nothing waits."""
        return True


class CountedSpanExporter:
    """Counts the spans that another exporter could not deliver."""

    def __init__(self, exporter: SpanExporter, drops: Drops) -> None:
        self._exporter = exporter
        self._drops = drops
        self.handed = 0
        """Spans that it was given."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Deliver, or count."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        self.handed += len(spans)  # one batch at a time
        result = SpanExportResult.FAILURE
        with suppress(Exception):  # the processor would log it, with a traceback for each batch
            result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self._drops.count("export_failed", len(spans))
        return result

    def shutdown(self) -> None:
        """Stop."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Deliver what the exporter holds."""
        return self._exporter.force_flush(timeout_millis)


class CountedSpanProcessor(_OfEndedSpans):
    """Counts, at its end, the spans that another processor never gave to its exporter: its queue was full."""

    def __init__(self, processor: SpanProcessor, exporter: CountedSpanExporter, drops: Drops) -> None:
        self._processor = processor
        self._exporter = exporter
        self._drops = drops
        self._lock = new_lock()
        self._ended = 0
        self._closed = False
        in_forked_children(self._after_fork)

    def on_end(self, span: ReadableSpan) -> None:
        """Hand the span over."""
        if not span.context.trace_flags.sampled:
            return
        if self._closed:
            self._drops.count("closed")
            return
        with self._lock:
            self._ended += 1
        self._processor.on_end(span)

    def shutdown(self) -> None:
        """Deliver what waits, stop, and count."""
        self._closed = True
        self._processor.shutdown()
        missing = self._ended - self._exporter.handed
        if missing > 0:
            self._drops.count("queue_full", missing)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Deliver what waits."""
        return self._processor.force_flush(timeout_millis)

    def _after_fork(self) -> None:
        """What waited belongs to the parent."""
        self._ended = self._exporter.handed = 0
