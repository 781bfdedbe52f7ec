"""The JSON lines, against a real collector's output and against the standard encoder."""

import json
import math
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse
from hypothesis import given, strategies as st
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs as standard_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans as standard_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from otel_toolerrors.telemetry.otlp_json import encode_logs, encode_spans
from tests.telemetry.otlp_sample import LOGS, RESOURCE, SPANS, context

OUTPUT = Path(__file__).parent / "collector_output"


def test_spans_are_what_a_real_collector_writes():
    """Byte for byte the line of the collector's file exporter for the same spans."""
    assert encode_spans(SPANS) == (OUTPUT / "traces.jsonl").read_bytes()


def test_log_records_are_what_a_real_collector_writes():
    """Byte for byte the line of the collector's file exporter for the same log records."""
    assert encode_logs(LOGS) == (OUTPUT / "logs.jsonl").read_bytes()


def test_the_sample_is_what_the_standard_exporter_sends():
    """The sample has a form on the wire, so that a collector can be asked what it makes of it."""
    assert len(standard_spans(SPANS).resource_spans) == len(json.loads(encode_spans(SPANS))["resourceSpans"])
    assert len(standard_logs(LOGS).resource_logs) == len(json.loads(encode_logs(LOGS))["resourceLogs"])


def span_with(attributes):
    """A span with these attributes."""
    span = TracerProvider(resource=RESOURCE, shutdown_on_exit=False).get_tracer("test").start_span("x")
    span.set_attributes(attributes)
    span.end()
    return span


# JSON has one NaN: the sign and the payload of another cannot be written.
NUMBERS = st.floats().map(lambda number: number if number == number else math.nan)  # noqa: PLR0124 - true but for NaN


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
        st.one_of(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.integers(-(2**63), 2**63 - 1),
            NUMBERS,
            st.booleans(),
            st.binary(max_size=8),
            st.lists(NUMBERS, max_size=3),
        ),
        max_size=5,
    )
)
def test_the_line_means_what_the_standard_encoding_means(attributes):
    """Whatever the attributes are, the line read by protobuf's own parser is the standard exporter's message."""
    span = span_with(attributes)
    expected = standard_spans([span])
    line = json.loads(encode_spans([span]))
    ids = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    # Protobuf's JSON has bytes in base64; OTLP's has ids in hex.
    sent = expected.resource_spans[0].scope_spans[0].spans[0]
    assert (ids.pop("traceId"), ids.pop("spanId")) == (sent.trace_id.hex(), sent.span_id.hex())
    sent.ClearField("trace_id")
    sent.ClearField("span_id")
    got = Parse(json.dumps(line), ExportTraceServiceRequest())
    # NaN is not equal to itself; its encoding is.
    assert got.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)


@given(st.lists(st.text(), max_size=3))
def test_a_line_is_one_line(texts):
    """No text, however strange, breaks the line or its encoding."""
    line = encode_spans([ReadableSpan(text, context(1), resource=RESOURCE) for text in texts])
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    json.loads(line.decode("utf-8"))


@pytest.mark.parametrize("value", [object(), Resource({})], ids=["object", "resource"])
def test_what_has_no_encoding_is_named_by_its_type(value):
    """A value that OTLP cannot express does not cost the span."""
    line = encode_spans([ReadableSpan("x", context(1), resource=RESOURCE, attributes={"odd": value})])
    assert f'{{"key":"odd","value":{{"stringValue":"<{type(value).__name__}>"}}}}'.encode() in line


def test_a_span_without_scope_is_encoded():
    """A span that names no scope belongs to the empty one."""
    assert b'"scope":{},"spans":[{' in encode_spans([ReadableSpan("x", context(1), resource=RESOURCE)])
