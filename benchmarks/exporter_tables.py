"""OTLP JSON lines into ClickHouse's ``otel_traces`` and ``otel_logs``, as the collector's exporter fills them.

Written after the exporter's schema (contrib 0.161), because a collector in between would be a process more for
every test: the columns and types are its own, attributes are texts in maps, and so on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_MAP = "Map(LowCardinality(String), String)"

TRACES = f"""
CREATE TABLE IF NOT EXISTS {{table}} (
  Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String, TraceState String,
  SpanName LowCardinality(String), SpanKind LowCardinality(String), ServiceName LowCardinality(String),
  ResourceAttributes {_MAP}, ScopeName String, ScopeVersion String, SpanAttributes {_MAP}, Duration UInt64,
  StatusCode LowCardinality(String), StatusMessage String,
  Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes {_MAP}),
  Links Nested (TraceId String, SpanId String, TraceState String, Attributes {_MAP}),
  INDEX idx_trace_id TraceId TYPE bloom_filter(0.001),
  INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01)
) ENGINE = MergeTree PARTITION BY toDate(Timestamp) ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))"""

LOGS = f"""
CREATE TABLE IF NOT EXISTS {{table}} (
  Timestamp DateTime64(9), TraceId String, SpanId String, ServiceName LowCardinality(String), Body String,
  ResourceAttributes {_MAP}, LogAttributes {_MAP}, EventName String
) ENGINE = MergeTree PARTITION BY toDate(Timestamp)
ORDER BY (toStartOfFiveMinutes(Timestamp), ServiceName, Timestamp)"""

_KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
_STATUSES = ("Unset", "Ok", "Error")


def write_rows(lines: Iterable[bytes | str], traces: Path, logs: Path) -> None:
    """Write the rows of both tables as JSON lines, for ClickHouse to read."""
    with traces.open("w", encoding="utf-8") as spans, logs.open("w", encoding="utf-8") as records:
        for line in lines:
            request = json.loads(line)
            for row in _spans(request):
                spans.write(json.dumps(row, separators=(",", ":")) + "\n")
            for row in _log_records(request):
                records.write(json.dumps(row, separators=(",", ":")) + "\n")


def _spans(request: Json) -> Iterator[Json]:
    for resource in request.get("resourceSpans", ()):
        about = _attributes(resource.get("resource", {}))
        for scope in resource["scopeSpans"]:
            name = scope.get("scope", {}).get("name", "")
            for span in scope["spans"]:
                yield _span(span) | {
                    "ServiceName": about.get("service.name", ""),
                    "ResourceAttributes": about,
                    "ScopeName": name,
                }


def _span(span: Json) -> Json:
    start, end = int(span.get("startTimeUnixNano", 0)), int(span.get("endTimeUnixNano", 0))
    status, events, links = span.get("status", {}), span.get("events", ()), span.get("links", ())
    return {
        "Timestamp": _time(start), "TraceId": span["traceId"], "SpanId": span["spanId"],
        "ParentSpanId": span.get("parentSpanId", ""), "SpanName": span["name"],
        "SpanKind": _KINDS[int(span.get("kind", 0))], "SpanAttributes": _attributes(span),
        "Duration": (end - start) % 2**64, "StatusCode": _STATUSES[int(status.get("code", 0))],
        "StatusMessage": status.get("message", ""),
        "Events.Timestamp": [_time(int(event.get("timeUnixNano", 0))) for event in events],
        "Events.Name": [event["name"] for event in events],
        "Events.Attributes": [_attributes(event) for event in events],
        "Links.TraceId": [link["traceId"] for link in links], "Links.SpanId": [link["spanId"] for link in links],
        "Links.TraceState": [""] * len(links), "Links.Attributes": [{}] * len(links),
    }  # fmt: skip


def _log_records(request: Json) -> Iterator[Json]:
    for resource in request.get("resourceLogs", ()):
        about = _attributes(resource.get("resource", {}))
        for scope in resource["scopeLogs"]:
            for record in scope["logRecords"]:
                time = int(record.get("timeUnixNano", 0)) or int(record.get("observedTimeUnixNano", 0))
                yield {
                    "Timestamp": _time(time), "TraceId": record.get("traceId", ""), "SpanId": record.get("spanId", ""),
                    "ServiceName": about.get("service.name", ""), "ResourceAttributes": about,
                    "LogAttributes": _attributes(record), "EventName": record.get("eventName", ""),
                }  # fmt: skip


def _time(nanoseconds: int) -> str:
    """Write a time so that none of its nanoseconds is lost."""
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09d}"


def _attributes(owner: Json) -> dict[str, str]:
    return {item["key"]: _text(item["value"]) for item in owner.get("attributes", ())}


def _text(value: Json) -> str:
    """A value as the collector makes text of it."""
    match value:
        case {"stringValue": text}:
            return text
        case {"boolValue": truth}:
            return "true" if truth else "false"
        case {"arrayValue": {"values": items}}:
            return json.dumps([_text(item) for item in items], separators=(",", ":"))
        case {"doubleValue": number}:
            return json.dumps(number)
        case _:
            return str(next(iter(value.values())))
