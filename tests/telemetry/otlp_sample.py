"""Spans and log records that need every rule of the JSON encoding, and how to see what a collector makes of them.

The files in ``collector_output`` are what the file exporter of a collector 0.155 (built from collector/builder.yaml)
wrote for these, sent to it by the standard OTLP exporters. To send them to yours:
``python -m tests.telemetry.otlp_sample http://127.0.0.1:4318``.
"""

import sys

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)

TRACE, START = 0x4BF92F3577B34DA6A3CE929D0E0E4736, 1_795_000_000_123_456_789

VALUES = {
    "text": 'quotes " and \\ and / and < & >',
    "empty": "",
    "control": "\x00 \x08 \t \n \x0b \x0c \r \x1b \x1f \x7f",
    "unicode": "ü 日本 🙂 \u2028 \u2029 \ufeff",
    'k"ey\n': "a key that needs escapes",
    "true": True,
    "false": False,
    "zero": 0,
    "int": 2**53 + 1,
    "least": -(2**63),
    "most": 2**63 - 1,
    "whole": 5.0,
    "minus zero": -0.0,
    "third": 1 / 3,
    "small": 0.00001,
    "smaller": 0.000001,
    "smallest": 0.0000001,
    "1.5e-7": 1.5e-7,
    "large": 1e16,
    "larger": 1.2345678901234568e20,
    "largest": 1e21,
    "1e308": 1.7976931348623157e308,
    "denormal": 5e-324,
    "nan": float("nan"),
    "infinite": float("inf"),
    "minus infinite": float("-inf"),
    "bytes": b"\x00\xff",
    "no bytes": b"",
    "list": ["a", "b"],
    "ints": (1, 2),
    "empty list": (),
    "map": {"a": 1, "b": [True, None, {"c": 0.5}]},
    "empty map": {},
}


def context(span_id, *, remote=False, state=None):
    """A sampled span context."""
    return SpanContext(TRACE, span_id, remote, TraceFlags(1), TraceState(state or []))


RESOURCE = Resource({"service.name": "triage", "n": 1}, "https://opentelemetry.io/schemas/1.40.0")
OURS = InstrumentationScope(
    "otel_toolerrors", "0.1.0", "https://example.org/schema", {"toolerrors.vocabulary.version": "1"}
)
OTHER = InstrumentationScope("httpx")

SPANS = [
    ReadableSpan(
        "execute_tool search",
        context(0xA1, state=[("vendor", "value"), ("other", "x-y")]),
        parent=context(0xA0),
        resource=RESOURCE,
        attributes=VALUES,
        events=[
            Event("toolerrors.retry.scheduled", {"toolerrors.retry.delay": 0.61}, START + 5),
            Event("bare", None, START + 6),
        ],
        links=[Link(context(0xA2, remote=True), {"why": "repeated"}), Link(context(0xA3))],
        kind=SpanKind.INTERNAL,
        status=Status(StatusCode.UNSET),
        start_time=START,
        end_time=START + 1_000,
        instrumentation_scope=OURS,
    ),
    ReadableSpan(
        "attempt search",
        context(0xA4),
        parent=context(0xA1, remote=True),
        resource=RESOURCE,
        kind=SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, 'with a "description"'),
        start_time=START,
        end_time=START + 10,
        instrumentation_scope=OURS,
    ),
    *(
        ReadableSpan(
            f"{kind.name} ünïcode",
            context(0xB0 + kind.value),
            resource=RESOURCE,
            kind=kind,
            status=Status(StatusCode.OK),
            start_time=START,
            end_time=START,
            instrumentation_scope=OTHER,
        )
        for kind in SpanKind
    ),
    ReadableSpan(
        "of another resource",
        context(0xC0),
        resource=Resource({}),
        status=Status(StatusCode.ERROR),
        start_time=START,
        end_time=START,
        instrumentation_scope=OTHER,
    ),
]


def record(scope, **fields):
    """A log record of a span."""
    inside = set_span_in_context(NonRecordingSpan(context(0xA1)), Context())
    log = LogRecord(observed_timestamp=START + 9, context=inside, **fields)
    return ReadableLogRecord(log, RESOURCE, scope)


LOGS = [
    record(
        OURS,
        timestamp=START + 8,
        severity_number=SeverityNumber.WARN,
        severity_text="WARN",
        attributes=VALUES,
        event_name="toolerrors.fault.classified",
    ),
    record(OTHER, body='plain "text"'),
    record(OTHER, body={"nested": [1, 2.5]}),
    ReadableLogRecord(LogRecord(observed_timestamp=START, context=Context()), RESOURCE, OTHER),
]


if __name__ == "__main__":
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    OTLPSpanExporter(f"{sys.argv[1]}/v1/traces").export(SPANS)
    OTLPLogExporter(f"{sys.argv[1]}/v1/logs").export(LOGS)
