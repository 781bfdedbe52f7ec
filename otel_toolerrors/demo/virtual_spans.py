"""Spans that carry simulated times: a tracer provider around the SDK's own.

The SDK stamps spans with the machine's clock. In simulated time that would make a
wait of minutes look like none, to the eye and to the replay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode, Tracer, TracerProvider
from opentelemetry.util.types import Attributes, AttributeValue

from .virtual_time import Timeline


class SeededIds(IdGenerator):
    """Ids that the same seed gives again: replay draws by them, and a trace is found where a page says."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def generate_span_id(self) -> int:
        """Make 64 bits, not all zero."""
        return self._random.randrange(1, 2**64)

    def generate_trace_id(self) -> int:
        """Make 128 bits, not all zero."""
        return self._random.randrange(1, 2**128)


class VirtualSpans(TracerProvider):
    """Hands out tracers whose spans begin, end and note events at the simulated moment."""

    def __init__(self, provider: TracerProvider, timeline: Timeline) -> None:
        self._provider = provider
        self._timeline = timeline

    def get_tracer(self, *names: Any, **more: Any) -> Tracer:
        """Give a tracer of the provider beneath."""
        return _Tracer(self._provider.get_tracer(*names, **more), self._timeline)


class _Tracer(Tracer):
    def __init__(self, tracer: Tracer, timeline: Timeline) -> None:
        self._tracer = tracer
        self._timeline = timeline

    def start_span(  # noqa: PLR0917 - OpenTelemetry's own signature
        self,
        name: str,
        context: Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        start_time: int | None = None,
        record_exception: bool = True,  # noqa: FBT001, FBT002
        set_status_on_exception: bool = True,  # noqa: FBT001, FBT002
    ) -> Span:
        timeline = self._timeline
        start = timeline.now_ns() if start_time is None else timeline.at_ns(start_time)
        span = self._tracer.start_span(
            name, context, kind, attributes, links or (), start, record_exception, set_status_on_exception
        )
        return _Span(span, timeline)

    def start_as_current_span(self, *args: Any, **more: Any) -> Any:
        raise NotImplementedError("the layer starts its spans with start_span()")


class _Span(Span):
    def __init__(self, span: Span, timeline: Timeline) -> None:
        self._span = span
        self._timeline = timeline

    def end(self, end_time: int | None = None) -> None:
        self._span.end(self._timeline.now_ns() if end_time is None else self._timeline.at_ns(end_time))

    def add_event(self, name: str, attributes: Attributes = None, timestamp: int | None = None) -> None:
        when = self._timeline.now_ns() if timestamp is None else self._timeline.at_ns(timestamp)
        self._span.add_event(name, attributes, when)

    # The rest is passed on as it is.

    def get_span_context(self) -> SpanContext:
        return self._span.get_span_context()

    def set_attributes(self, attributes: Mapping[str, AttributeValue]) -> None:
        self._span.set_attributes(attributes)

    def set_attribute(self, key: str, value: AttributeValue) -> None:
        self._span.set_attribute(key, value)

    def add_link(self, context: SpanContext, attributes: Attributes = None) -> None:
        self._span.add_link(context, attributes)

    def update_name(self, name: str) -> None:
        self._span.update_name(name)

    def is_recording(self) -> bool:
        return self._span.is_recording()

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        self._span.set_status(status, description)

    def record_exception(self, exception: BaseException, *args: Any, **more: Any) -> None:
        self._span.record_exception(exception, *args, **more)
