"""Reading with care: what the fast parse refused, request by request and span by span.

Everything sound is written to a clean file, which the fast parse then takes;
everything else is told with its place and the reason. One bad span costs that
span, one torn line that line.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from otel_toolerrors.analysis.schema import EVENT_ATTRIBUTES, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES, Column

Json = dict[str, Any]
Report = Callable[[str, object], None]
"""Takes a reason, and the thing that was left out."""

_MOST_SPANS = 2_000
"""Spans in one clean line: keeps a line well under the 16 MiB that DuckDB likes."""
_LARGEST_INT = 2**63 - 1
_HEX_DIGITS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
_HEX = re.compile(r"[0-9a-fA-F]+")
_WRAPPERS = ("result", "trace")
"""Around a request in the answers of Jaeger and Tempo."""
_SIGNALS = ("resourceSpans", "resourceLogs", "resourceMetrics", "resourceProfiles")
_REQUEST_START = re.compile(r'\{\s*"resource(?:Spans|Logs|Metrics|_spans)"')
_NUMBER_OF = {"BIGINT": int, "DOUBLE": float}
_BOOLEANS = frozenset({"true", "false"})


class _UnsoundError(ValueError):
    """A part of a request cannot be read; the message says why."""


@dataclass(slots=True)
class Cleaned:
    """What one line, or one document, gave."""

    requests: list[str] = field(default_factory=list)
    problems: list[tuple[int, str, str]] = field(default_factory=list)
    """Offset in characters, reason, and the start of what was left out."""


def clean(content: bytes) -> Cleaned:
    """Read a line or a document that may hold several requests, some of them torn."""
    result = Cleaned()
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\ufffd" in text and not _is_utf8(content):
        result.problems.append((0, "invalid UTF-8: the bytes were replaced, the rest was read", text))
    for offset, value, reason in _documents(text):
        if reason:
            result.problems.append((offset, reason, text[offset:]))
            continue

        def report(reason: str, thing: object, offset: int = offset) -> None:
            head = thing if isinstance(thing, str) else json.dumps(thing, default=str)
            result.problems.append((offset, reason, head))

        for request in _requests(value, report):
            result.requests += _split(_clean_request(request, report))
    return result


def unwrap(content: bytes) -> Iterator[Json]:
    """Yield the export requests in an API's answer: one, a list, or one after the other."""
    for _, value, _ in _documents(content.decode("utf-8", "replace")):
        if value is not None:
            yield from _requests(value, lambda _reason, _thing: None)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _documents(text: str) -> Iterator[tuple[int, Any, str]]:
    """Yield the JSON values of ``text`` with their offsets; for what is none, a reason. Torn ones end at the next."""
    decoder = json.JSONDecoder(strict=False)
    offset = _skip_blank(text, 0)
    while offset < len(text):
        try:
            value, end = decoder.raw_decode(text, offset)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"
            yield offset, None, reason
            following = _REQUEST_START.search(text, offset + 1)
            if following is None:
                return
            offset = following.start()
        else:
            yield offset, value, ""
            offset = _skip_blank(text, end)


def _skip_blank(text: str, offset: int) -> int:
    while offset < len(text) and text[offset] in " \t\r\n":
        offset += 1
    return offset


def _requests(value: Any, report: Report) -> Iterator[Json]:
    """Unwrap a value that should be an export request, a list of them, or an API's answer around one."""
    if isinstance(value, list):
        for item in value:
            yield from _requests(item, report)
    elif not isinstance(value, dict):
        report(f"a JSON {_kind(value)}, not an OTLP export request", value)
    elif any(_get(value, signal) is not None for signal in _SIGNALS):
        yield value
    elif isinstance(value.get("batches"), list):  # Tempo's first API
        yield {"resourceSpans": value["batches"]}
    elif inner := next((value[name] for name in _WRAPPERS if isinstance(value.get(name), dict)), None):
        yield from _requests(inner, report)
    elif not any(signal in value for signal in _SIGNALS):
        report("no OTLP export request: none of " + ", ".join(_SIGNALS), value)


def _clean_request(request: Json, report: Report) -> Iterator[tuple[Json, str, list[Json]]]:
    """Yield each scope of a request as its resource, its name and its sound spans or log records."""
    for resource in _each(request, "resourceSpans", report):
        attributes = _resource(resource, report)
        for name in ("scopeSpans", "instrumentationLibrarySpans"):
            for scope in _each(resource, name, report):
                spans = [span for item in _each(scope, "spans", report) if (span := _attempt(_span, item, report))]
                yield {"attributes": attributes}, _scope_name(scope), spans
    for resource in _each(request, "resourceLogs", report):
        records = [
            record
            for scope in _each(resource, "scopeLogs", report)
            for item in _each(scope, "logRecords", report)
            if (record := _attempt(_log_record, item, report))
        ]
        yield {}, "", records


def _split(scopes: Iterator[tuple[Json, str, list[Json]]]) -> Iterator[str]:
    """Write clean requests of a bounded size."""
    for resource, scope, rows in scopes:
        for start in range(0, len(rows), _MOST_SPANS):
            part = rows[start : start + _MOST_SPANS]
            request: Json
            if resource:
                scopes_of = [{"scope": {"name": scope}, "spans": part}]
                request = {"resourceSpans": [{"resource": resource, "scopeSpans": scopes_of}]}
            else:
                request = {"resourceLogs": [{"scopeLogs": [{"logRecords": part}]}]}
            yield json.dumps(request, separators=(",", ":"))


def _attempt(read: Callable[[Json, Report], Json], item: Json, report: Report) -> Json | None:
    try:
        return read(item, report)
    except _UnsoundError as error:
        report(str(error), item)
        return None


def _span(item: Json, report: Report) -> Json:
    status = _get(item, "status")
    status = status if isinstance(status, dict) else {}
    return {
        "traceId": _id(item, "traceId"),
        "spanId": _id(item, "spanId"),
        "parentSpanId": _id(item, "parentSpanId") if _get(item, "parentSpanId") else "",
        "name": _text(_get(item, "name")),
        "kind": _text(_get(item, "kind")),
        "startTimeUnixNano": _time(item, "startTimeUnixNano"),
        "endTimeUnixNano": _time(item, "endTimeUnixNano"),
        "attributes": _attributes(item, SPAN_ATTRIBUTES, report),
        "events": [event for e in _each(item, "events", report) if (event := _attempt(_event, e, report))],
        "links": [link for k in _each(item, "links", report) if (link := _attempt(_link, k, report))],
        "status": {"code": _text(status.get("code")), "message": _text(status.get("message"))},
    }


def _event(item: Json, report: Report) -> Json:
    return {
        "timeUnixNano": _time(item, "timeUnixNano"),
        "name": _text(_get(item, "name")),
        "attributes": _attributes(item, EVENT_ATTRIBUTES, report),
    }


def _link(item: Json, _: Report) -> Json:
    return {"traceId": _id(item, "traceId"), "spanId": _id(item, "spanId")}


def _log_record(item: Json, report: Report) -> Json:
    if not _get(item, "eventName") or not _get(item, "traceId") or not _get(item, "spanId"):
        return {}  # a log line, and not one of a span
    return {
        "traceId": _id(item, "traceId"),
        "spanId": _id(item, "spanId"),
        "timeUnixNano": _time(item, "timeUnixNano"),
        "observedTimeUnixNano": _time(item, "observedTimeUnixNano"),
        "eventName": _text(_get(item, "eventName")),
        "attributes": _attributes(item, EVENT_ATTRIBUTES, report),
    }


def _resource(item: Json, report: Report) -> list[Json]:
    resource = _get(item, "resource")
    return _attributes(resource, RESOURCE_ATTRIBUTES, report) if isinstance(resource, dict) else []


def _scope_name(item: Json) -> str:
    scope = _get(item, "scope") or _get(item, "instrumentationLibrary")
    return _text(scope.get("name")) or "" if isinstance(scope, dict) else ""


def _attributes(item: Json, columns: tuple[Column, ...], report: Report) -> list[Json]:
    """Read attributes as text; a second one of the same key, and one that does not fit its column, is left out."""
    types = {column.name: column.type for column in columns}
    sound: dict[str, Json] = {}
    for entry in _each(item, "attributes", report):
        key = entry.get("key")
        if not isinstance(key, str):
            report("an attribute without a key", entry)
            continue
        text = _value(entry.get("value"))
        if text is None or key in sound:
            continue
        if not _fits(text, types.get(key, "VARCHAR")):
            report(f"attribute {key}: {text[:40]!r} is no {types[key].lower()}; the attribute was left out", entry)
            continue
        sound[_scalar_text(key)] = {"key": _scalar_text(key), "value": {"stringValue": text}}
    return list(sound.values())


def _value(value: Any) -> str | None:
    """Render an attribute's value as text: a scalar as itself, anything else as JSON."""
    if not isinstance(value, dict):
        return None if value is None else _text(value)  # a bare value, as some exporters write it
    inner = next((v for v in value.values() if v is not None), None)
    return None if inner is None else _text(inner)


def _text(value: Any) -> str | None:
    match value:
        case None:
            return None
        case str():
            return _scalar_text(value)
        case bool() | int() | float():
            return json.dumps(value)
        case _:
            return _scalar_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _scalar_text(text: str) -> str:
    """Replace what UTF-8 cannot say: half a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _fits(text: str, sql_type: str) -> bool:
    if sql_type == "BOOLEAN":
        return text.lower() in _BOOLEANS
    try:
        number = _NUMBER_OF[sql_type](text) if sql_type in _NUMBER_OF else 0
    except ValueError:
        return False
    return sql_type != "BIGINT" or -_LARGEST_INT <= number <= _LARGEST_INT


def _id(item: Json, name: str) -> str:
    """Read an id in hexadecimal digits, or in the base64 that protobuf's own JSON has."""
    value, digits = _get(item, name), _HEX_DIGITS[name]
    if not isinstance(value, str) or not value:
        raise _UnsoundError(f"{name} is missing")
    if len(value) == digits and _HEX.fullmatch(value):
        return value.lower()
    try:
        decoded = base64.b64decode(value, validate=True).hex()
    except ValueError:  # not base64, or not even ASCII
        decoded = ""
    if len(decoded) != digits:
        raise _UnsoundError(f"{name} {value[:40]!r} is neither {digits} hexadecimal digits nor their base64")
    return decoded


def _time(item: Json, name: str) -> int:
    """Read nanoseconds since 1970; 0 where there are none."""
    value = _get(item, name)
    if value in (None, ""):
        return 0
    try:
        time = int(value) if not isinstance(value, float) or math.isfinite(value) else -1
    except (TypeError, ValueError):
        time = -1
    if isinstance(value, bool) or not 0 <= time <= _LARGEST_INT:
        raise _UnsoundError(f"{name} {str(value)[:40]!r} is no time in nanoseconds since 1970")
    return time


def _each(item: Json, name: str, report: Report) -> Iterator[Json]:
    """Yield the objects of a list field, reporting what is none."""
    value = _get(item, name)
    if value is None:
        return
    if not isinstance(value, list):
        report(f"{name} is a JSON {_kind(value)}, not a list", value)
        return
    for index, element in enumerate(value):
        if isinstance(element, dict):
            yield element
        else:
            report(f"{name}[{index}] is a JSON {_kind(element)}, not an object", element)


def _get(item: Json, name: str) -> Any:
    """Read a field under its OTLP name, or under the protobuf name that some encoders keep."""
    return item[name] if name in item else item.get(_SNAKE[name])


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


_SNAKE = {
    name: _snake(name)
    for name in (
        *_SIGNALS, *_HEX_DIGITS, "scopeSpans", "instrumentationLibrarySpans", "instrumentationLibrary", "spans",
        "scope", "resource", "attributes", "events", "links", "status", "name", "kind", "startTimeUnixNano",
        "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano", "eventName", "scopeLogs", "logRecords",
    )
}  # fmt: skip


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "list"}
    return names.get(type(value), "object")
