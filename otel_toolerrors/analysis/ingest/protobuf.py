"""OTLP protobuf to OTLP JSON, with the decoder that OpenTelemetry publishes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from otel_toolerrors.analysis.sources import TraceSourceError

_TRACE_ID_BYTES = 16
_IDS = frozenset({"traceId", "spanId", "parentSpanId"})


class NotOtlpError(Exception):
    """The bytes are no export request."""


def to_json_line(path: Path, message: bytes) -> bytes:
    """Decode an export request of traces or logs; one of metrics gives an empty line.

    Raises:
        NotOtlpError: the bytes are none.
        TraceSourceError: the decoder is not installed.
    """
    try:  # not needed by those whose files are JSON
        from google.protobuf.json_format import MessageToDict  # noqa: PLC0415
        from google.protobuf.message import DecodeError  # noqa: PLC0415
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData  # noqa: PLC0415
        from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData  # noqa: PLC0415
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData  # noqa: PLC0415
    except ImportError as error:
        advice = f"{path}: holds OTLP protobuf; to read it, `pip install opentelemetry-proto`, or export JSON."
        raise TraceSourceError(advice) from error
    # The three requests look alike from outside; a record's own fields tell them apart.
    for decoder, is_sound, wanted in (
        (TracesData, _has_spans, True),
        (LogsData, _has_logs, True),
        (MetricsData, _has_metrics, False),
    ):
        try:
            request = decoder.FromString(message)
        except DecodeError:
            continue
        if is_sound(request):
            return _line(MessageToDict(request)) if wanted else b""
    raise NotOtlpError("no OTLP protobuf: neither traces nor logs nor metrics")


def _has_spans(request: Any) -> bool:
    spans = [span for r in request.resource_spans for s in r.scope_spans for span in s.spans]
    return any(len(span.trace_id) == _TRACE_ID_BYTES for span in spans) or not request.resource_spans


def _has_logs(request: Any) -> bool:
    records = [record for r in request.resource_logs for s in r.scope_logs for record in s.log_records]
    return any(record.time_unix_nano or record.observed_time_unix_nano for record in records)


def _has_metrics(request: Any) -> bool:
    metrics = [metric for r in request.resource_metrics for s in r.scope_metrics for metric in s.metrics]
    return any(metric.name and metric.WhichOneof("data") for metric in metrics)


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
