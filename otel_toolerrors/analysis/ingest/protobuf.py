"""OTLP protobuf to OTLP JSON, with the decoder that OpenTelemetry publishes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from otel_toolerrors.analysis.sources import TraceSourceError

_IDS = frozenset({"traceId", "spanId", "parentSpanId"})


class NotOtlpError(Exception):
    """The bytes are no export request."""


def to_json_line(path: Path, message: bytes) -> bytes:
    """Decode an export request of traces or logs; one of metrics gives an empty line.

    Raises:
        NotOtlpError: the bytes are none.
        TraceSourceError: the decoder is not installed.
    """
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
        from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError as error:
        advice = f"{path}: holds OTLP protobuf; to read it, `pip install opentelemetry-proto`, or export JSON."
        raise TraceSourceError(advice) from error
    # The three requests look alike from outside; a record's own fields tell them apart.
    try:
        traces = TracesData.FromString(message)
        if any(span.trace_id for r in traces.resource_spans for s in r.scope_spans for span in s.spans):
            return _line(MessageToDict(traces))
        logs = LogsData.FromString(message)
        if any(
            record.time_unix_nano or record.observed_time_unix_nano
            for r in logs.resource_logs
            for s in r.scope_logs
            for record in s.log_records
        ):
            return _line(MessageToDict(logs))
        metrics = MetricsData.FromString(message)
        if any(metric.name for r in metrics.resource_metrics for s in r.scope_metrics for metric in s.metrics):
            return b""
        if not any(s.spans for r in traces.resource_spans for s in r.scope_spans):
            return b""  # an empty request
    except DecodeError as error:
        raise NotOtlpError(f"no OTLP protobuf: {error}") from error
    raise NotOtlpError("no OTLP protobuf: its spans have no ids, its records no times")


def _line(request: dict[str, Any]) -> bytes:
    return json.dumps(_hex_ids(request), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _hex_ids(node: Any) -> Any:
    """Protobuf's JSON has ids in base64, OTLP's in hexadecimal digits."""
    match node:
        case dict():
            return {
                key: base64.b64decode(value).hex() if key in _IDS and isinstance(value, str) else _hex_ids(value)
                for key, value in node.items()
            }
        case list():
            return [_hex_ids(item) for item in node]
        case _:
            return node
