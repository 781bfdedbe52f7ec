"""OTLP as JSON lines, byte for byte as the collector's file exporter writes it.

The protobuf JSON mapping leaves room (field order, zero values, escapes); the
collector's choices are: ids in hex, enums as numbers, 64-bit integers as
strings, zero and empty fields left out, but ``resource``, ``scope``, ``status``,
``body`` and ``value`` always there.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from math import inf, isnan
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord, ReadWriteLogRecord
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import Link, SpanContext, Status


class _Item(Protocol):
    @property
    def resource(self) -> Resource | None: ...
    @property
    def instrumentation_scope(self) -> InstrumentationScope | None: ...


_I = TypeVar("_I", bound=_Item)

_ESCAPES: Final = str.maketrans(
    {chr(code): f"\\u{code:04x}" for code in range(0x20)}
    | {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
)
_HAS_IS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200
_EXPONENT_BELOW: Final = 1e-6
_EXPONENT_FROM: Final = 1e21


def encode_spans(spans: Iterable[ReadableSpan]) -> bytes:
    """One line: an ``ExportTraceServiceRequest``."""
    return _encode("Spans", "spans", spans, _span)


def encode_logs(records: Iterable[ReadableLogRecord | ReadWriteLogRecord]) -> bytes:
    """One line: an ``ExportLogsServiceRequest``."""
    return _encode("Logs", "logRecords", records, _log_record)


def _encode(kind: str, field: str, items: Iterable[_I], encode: Callable[[_I], str]) -> bytes:
    # Resources are compared by identity: a provider has one, and its hash is a JSON dump.
    resources: dict[int, tuple[Resource | None, dict[InstrumentationScope | None, list[str]]]] = {}
    for item in items:
        _, scopes = resources.setdefault(id(item.resource), (item.resource, {}))
        scopes.setdefault(item.instrumentation_scope, []).append(encode(item))
    groups = [
        _object(
            resource=_resource(resource),
            **{f"scope{kind}": _array(_scope_group(scope, field, group) for scope, group in scopes.items())},
            schemaUrl=_text(resource.schema_url) if resource is not None else "",
        )
        for resource, scopes in resources.values()
    ]
    # A lone surrogate has no UTF-8; losing it is better than losing the line.
    return (_object(**{f"resource{kind}": _array(groups)}) + "\n").encode("utf-8", "replace")


def _resource(resource: Resource | None) -> str:
    return _object(attributes=_attributes(resource.attributes)) if resource is not None else "{}"


def _scope_group(scope: InstrumentationScope | None, field: str, group: Sequence[str]) -> str:
    if scope is None:
        return _object(scope="{}", **{field: _array(group)})
    inner = _object(name=_text(scope.name), version=_text(scope.version), attributes=_attributes(scope.attributes))
    return _object(scope=inner, **{field: _array(group)}, schemaUrl=_text(scope.schema_url))


def _span(span: ReadableSpan) -> str:
    context = span.context
    parent = span.parent
    return _object(
        traceId=f'"{context.trace_id:032x}"',
        spanId=f'"{context.span_id:016x}"',
        traceState=_text(context.trace_state.to_header()),
        parentSpanId=f'"{parent.span_id:016x}"' if parent is not None else "",
        flags=str(_flags(parent)),
        name=_text(span.name),
        kind=str(span.kind.value + 1),  # OTLP counts from 1; 0 is "unspecified"
        startTimeUnixNano=_nanoseconds(span.start_time),
        endTimeUnixNano=_nanoseconds(span.end_time),
        attributes=_attributes(span.attributes),
        droppedAttributesCount=_count(span.dropped_attributes),
        events=_array(map(_event, span.events)),
        droppedEventsCount=_count(span.dropped_events),
        links=_array(map(_link, span.links)),
        droppedLinksCount=_count(span.dropped_links),
        status=_status(span.status),
    )


def _event(event: Event) -> str:
    return _object(
        timeUnixNano=_nanoseconds(event.timestamp),
        name=_text(event.name),
        attributes=_attributes(event.attributes),
        droppedAttributesCount=_count(event.dropped_attributes),
    )


def _link(link: Link) -> str:
    context = link.context
    return _object(
        traceId=f'"{context.trace_id:032x}"',
        spanId=f'"{context.span_id:016x}"',
        attributes=_attributes(link.attributes),
        droppedAttributesCount=_count(link.dropped_attributes),
        flags=str(_flags(context)),
    )


def _status(status: Status) -> str:
    return _object(message=_text(status.description), code=_count(status.status_code.value))


def _log_record(record: ReadableLogRecord | ReadWriteLogRecord) -> str:
    log = record.log_record
    return _object(
        timeUnixNano=_nanoseconds(log.timestamp),
        observedTimeUnixNano=_nanoseconds(log.observed_timestamp),
        severityNumber=_count(log.severity_number.value if log.severity_number else 0),
        severityText=_text(log.severity_text),
        body=_any(log.body),
        attributes=_attributes(log.attributes),
        droppedAttributesCount=_count(record.dropped_attributes),
        flags=_count(log.trace_flags),
        traceId=f'"{log.trace_id:032x}"' if log.trace_id else "",
        spanId=f'"{log.span_id:016x}"' if log.span_id else "",
        eventName=_text(log.event_name),
    )


def _flags(context: SpanContext | None) -> int:
    """Whether the parent (or the linked span) is remote, and that we know."""
    return _HAS_IS_REMOTE | (_IS_REMOTE if context is not None and context.is_remote else 0)


def _attributes(attributes: Mapping[str, Any] | None) -> str:
    if not attributes:
        return ""
    return (
        "[" + ",".join([f'{{"key":{_key(str(key))},"value":{_any(value)}}}' for key, value in attributes.items()]) + "]"
    )


def _any(value: Any) -> str:
    encode = _ENCODERS.get(type(value))
    if encode is None:
        encode = next((encode for kind, encode in _ENCODERS.items() if isinstance(value, kind)), _name_of_type)
    return encode(value)


def _double(value: float) -> str:
    if isnan(value):
        return '"NaN"'
    if value in (inf, -inf):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    digits = repr(value)
    if "e" in digits and (_EXPONENT_BELOW <= abs(value) < _EXPONENT_FROM):
        digits = f"{Decimal(digits):f}"
    return digits.removesuffix(".0")


def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


_key = lru_cache(maxsize=1024)(_quote)


def _text(text: str | None) -> str:
    return _quote(text) if text else ""


def _nanoseconds(value: int | None) -> str:
    return f'"{value}"' if value else ""


def _count(value: int) -> str:
    return f"{value:d}" if value else ""


def _array(items: Iterable[str]) -> str:
    inner = ",".join(items)
    return f"[{inner}]" if inner else ""


def _object(**fields: str) -> str:
    """A JSON object of encoded values, without those that are empty."""
    return "{" + ",".join([f'"{name}":{value}' for name, value in fields.items() if value]) + "}"


def _name_of_type(value: Any) -> str:
    return f'{{"stringValue":"<{type(value).__name__}>"}}'


_ENCODERS: Final[Mapping[type, Callable[[Any], str]]] = {
    str: lambda value: f'{{"stringValue":{_quote(value)}}}',
    bool: lambda value: '{"boolValue":true}' if value else '{"boolValue":false}',
    int: lambda value: f'{{"intValue":"{value:d}"}}',
    float: lambda value: f'{{"doubleValue":{_double(value)}}}',
    NoneType: lambda _: "{}",
    bytes: lambda value: f'{{"bytesValue":"{b64encode(value).decode()}"}}',
    Mapping: lambda value: f'{{"kvlistValue":{_object(values=_attributes(value))}}}',
    Sequence: lambda value: f'{{"arrayValue":{_object(values=_array(map(_any, value)))}}}',
}
"""How a value becomes an ``AnyValue``; in the order in which a subclass looks for its kind."""
