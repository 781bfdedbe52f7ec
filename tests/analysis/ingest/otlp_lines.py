"""OTLP JSON lines for the tests, written as the collector's file exporter writes them."""

import json
from typing import Any

from otel_toolerrors.vocabulary import AttemptSpan, CallSpan, Event, FaultClassified, RunSpan, to_attributes

Json = dict[str, Any]

SECOND = 1_000_000_000
START = 1_790_000_000 * SECOND


def hex_id(number: int, digits: int) -> str:
    """Make an id that is not all zeros."""
    return f"{number + 1:0{digits}x}"


def attributes(values: Json) -> list[Json]:
    """Write attributes as OTLP JSON does: 64-bit integers as strings."""
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: object) -> Json:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
        case dict():
            return {"kvlistValue": {"values": attributes(value)}}
        case _:
            return {"stringValue": value}


def span(
    number: int = 0,
    values: Json | None = None,
    *,
    trace: int = 0,
    parent: int | None = None,
    name: str = "span",
    start: float = 0.0,
    duration: float = 1.0,
    events: list[Json] | None = None,
    **fields: Any,
) -> Json:
    """Make a span; ``start`` is in seconds after the tests' epoch."""
    begin = START + round(start * SECOND)
    row: Json = {
        "traceId": hex_id(trace, 32),
        "spanId": hex_id(number, 16),
        "parentSpanId": "" if parent is None else hex_id(parent, 16),
        "flags": 256,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + round(duration * SECOND)),
        "attributes": attributes(values or {}),
        "status": {},
    }
    if events:
        row["events"] = events
    return row | fields


def event(record: Event | str, values: Json | None = None, *, at: float = 0.5) -> Json:
    """Make a span event of a vocabulary record, or of any name."""
    name = record if isinstance(record, str) else record.NAME
    found = (values or {}) if isinstance(record, str) else to_attributes(record)
    return {"timeUnixNano": str(START + round(at * SECOND)), "name": name, "attributes": attributes(found)}


def request(*spans: Json, service: str = "triage", scope: str = "otel_toolerrors") -> Json:
    """Wrap spans as one export request."""
    resource = {"service.name": service, "service.version": "1.4.0", "telemetry.sdk.language": "python"}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes(resource)},
                "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}],
            }
        ]
    }


def line(*spans: Json, **options: str) -> bytes:
    """Write one export request of ``spans`` as a line."""
    return json.dumps(request(*spans, **options), separators=(",", ":")).encode() + b"\n"


def lines(count: int, first: int = 0) -> bytes:
    """Write ``count`` lines of one span each."""
    return b"".join(line(span(number, start=number)) for number in range(first, first + count))


def run_record(**changes: Any) -> Json:
    """Attributes of a run span."""
    values = {
        "operation": "invoke_agent", "run_id": "run-1", "source": "main_agent", "arm": "context", "tools": "search",
        "policy": "p1", "catalog": "2026.11", "agent": "triage",
    }  # fmt: skip
    return to_attributes(RunSpan(**(values | changes)))


def call_record(**changes: Any) -> Json:
    """Attributes of a call span."""
    values = {
        "operation": "execute_tool", "tool": "search", "tool_type": "function", "run_id": "run-1", "index": 0,
        "source": "main_agent", "service": "search-api", "effects": "read", "arguments": "d1", "policy": "p1",
        "outcome": "ok", "attempts": 1, "agent": "triage",
    }  # fmt: skip
    return to_attributes(CallSpan(**(values | changes)))


def attempt_record(**changes: Any) -> Json:
    """Attributes of an attempt span."""
    return to_attributes(AttemptSpan(**({"tool": "search", "attempt": 1} | changes)))


def fault(**changes: Any) -> FaultClassified:
    """Make a fault as the engine reports it."""
    values = {
        "tool": "search", "attempt": 1, "category": "transient", "code": "timeout.read", "passing": True,
        "retryable": True, "side_effects": "none", "fingerprint": "f1", "message": "read timed out",
        "signal": "type", "strength": "strong",
    }  # fmt: skip
    return FaultClassified(**(values | changes))
