"""OTLP JSON to rows, in SQL: the typed parse that DuckDB runs on every core.

Both spellings of OTLP JSON pass: fields omitted or empty, 64-bit numbers as
numbers or strings, enums as numbers or names. The parse is strict: a malformed
line or a value of the wrong type is an error, and the caller reads that batch
again line by line (`careful.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .schema import EVENT_ATTRIBUTES, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES, Column

_VALUE = (
    "STRUCT(stringValue VARCHAR, boolValue BOOLEAN, intValue BIGINT, doubleValue DOUBLE, "
    "arrayValue JSON, kvlistValue JSON, bytesValue VARCHAR)"
)
_ATTRIBUTES = f'STRUCT("key" VARCHAR, "value" {_VALUE})[]'
_RESOURCE = f"STRUCT(attributes {_ATTRIBUTES})"
_SCOPE = 'STRUCT("name" VARCHAR)'
_EVENT = f'STRUCT(timeUnixNano BIGINT, "name" VARCHAR, attributes {_ATTRIBUTES})'
_SPAN = (
    'STRUCT(traceId VARCHAR, spanId VARCHAR, parentSpanId VARCHAR, "name" VARCHAR, kind VARCHAR, '
    f"startTimeUnixNano BIGINT, endTimeUnixNano BIGINT, attributes {_ATTRIBUTES}, events {_EVENT}[], "
    "status STRUCT(code VARCHAR, message VARCHAR))"
)
_LOG_RECORD = (
    "STRUCT(traceId VARCHAR, spanId VARCHAR, timeUnixNano BIGINT, observedTimeUnixNano BIGINT, "
    f"eventName VARCHAR, attributes {_ATTRIBUTES})"
)
_REQUEST = {
    "resourceSpans": f"STRUCT(resource {_RESOURCE}, scopeSpans STRUCT(scope {_SCOPE}, spans {_SPAN}[])[])[]",
    "resourceLogs": f"STRUCT(scopeLogs STRUCT(logRecords {_LOG_RECORD}[])[])[]",
    "resourceMetrics": "JSON",
    "resourceProfiles": "JSON",
}

# The first non-null wins: a number that arrives as a string, or an integer where a fraction is meant, is still read.
_READINGS = {
    "VARCHAR": "coalesce({v}.stringValue, {v}.intValue::VARCHAR, {v}.doubleValue::VARCHAR, {v}.boolValue::VARCHAR)",
    "BIGINT": "coalesce({v}.intValue, TRY_CAST({v}.doubleValue AS BIGINT), TRY_CAST({v}.stringValue AS BIGINT))",
    "DOUBLE": "coalesce({v}.doubleValue, {v}.intValue, TRY_CAST({v}.stringValue AS DOUBLE))",
    "BOOLEAN": "coalesce({v}.boolValue, TRY_CAST({v}.stringValue AS BOOLEAN))",
}
_AS_TEXT = (
    "coalesce(a.value.stringValue, a.value.intValue::VARCHAR, a.value.doubleValue::VARCHAR, "
    "a.value.boolValue::VARCHAR, a.value.arrayValue::VARCHAR, a.value.kvlistValue::VARCHAR, a.value.bytesValue)"
)


def literal(text: str) -> str:
    """Quote a string for SQL."""
    return "'" + text.replace("'", "''") + "'"


def read_requests(files: Sequence[str]) -> str:
    """Render a table function over files of OTLP JSON lines, one export request a row."""
    columns = ", ".join(f"{name}: {literal(sql_type)}" for name, sql_type in _REQUEST.items())
    paths = ", ".join(map(literal, files))
    # records and sample_size: without them the types are guessed from 20,480 objects at every bind.
    return (
        f"read_json([{paths}], columns = {{{columns}}}, format = 'newline_delimited', "
        "auto_detect = false, records = true, sample_size = 1)"
    )


def _typed(attributes: str, keys: str, columns: Iterable[Column]) -> str:
    def read(column: Column) -> str:
        value = f"{attributes}[list_position({keys}, {literal(column.name)})].value"
        return f"{_READINGS[column.type].format(v=value)} AS {column.quoted}"

    return ",\n    ".join(read(column) for column in columns)


def _leftovers(attributes: str, columns: Iterable[Column]) -> str:
    typed = ", ".join(literal(column.name) for column in columns)
    rest = f"list_filter({attributes}, lambda a: a.key NOT IN ({typed}))"
    return f"map_from_entries(list_transform({rest}, lambda a: struct_pack(k := a.key, v := {_AS_TEXT})))"


def select_spans(requests: str) -> str:
    """Render the spans of ``requests``, one a row, with their events still nested in ``events``."""
    return f"""
WITH resources AS (SELECT unnest(resourceSpans) AS r FROM {requests}),
scopes AS (SELECT r.resource.attributes AS resource, unnest(r.scopeSpans) AS s FROM resources),
flat AS (SELECT resource, s.scope.name AS scope, unnest(s.spans) AS span FROM scopes),
keyed AS (
  SELECT *, list_transform(span.attributes, lambda a: a.key) AS keys,
    list_transform(resource, lambda a: a.key) AS resource_keys
  FROM flat
)
SELECT
    lower(span.traceId) AS trace_id, lower(span.spanId) AS span_id, lower(span.parentSpanId) AS parent_span_id,
    span.name AS name, {_enum("span.kind", "SPAN_KIND_", _KINDS)} AS kind,
    span.startTimeUnixNano AS start_ns, span.endTimeUnixNano AS end_ns,
    {_enum("span.status.code", "STATUS_CODE_", _STATUSES)} AS status, span.status.message AS status_message, scope,
    {_typed("resource", "resource_keys", RESOURCE_ATTRIBUTES)},
    {_typed("span.attributes", "keys", SPAN_ATTRIBUTES)},
    {_leftovers("span.attributes", SPAN_ATTRIBUTES)} AS attributes,
    {_leftovers("resource", RESOURCE_ATTRIBUTES)} AS resource,
    span.events AS events
FROM keyed"""


_KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES = ("UNSET", "OK", "ERROR")


def _enum(value: str, prefix: str, names: Sequence[str]) -> str:
    """Render the short name of an enum that arrives as its number, its full name, or (for zero) not at all."""
    numbered = " ".join(f"WHEN '{number}' THEN '{name}'" for number, name in enumerate(names))
    full = " ".join(f"WHEN '{prefix}{name}' THEN '{name}'" for name in names)
    return f"CASE coalesce({value}, '0') {numbered} {full} WHEN '' THEN '{names[0]}' END"


def select_span_events(spans: str) -> str:
    """Render the events nested in a relation made by :func:`select_spans`."""
    return f"""
WITH flat AS (
  SELECT trace_id, span_id, generate_subscripts(events, 1) - 1 AS position, unnest(events) AS event
  FROM {spans} WHERE len(events) > 0
),
keyed AS (SELECT *, list_transform(event.attributes, lambda a: a.key) AS keys FROM flat)
SELECT
    trace_id, span_id, position, 'span' AS signal, event.name AS name, event.timeUnixNano AS ts_ns,
    {_typed("event.attributes", "keys", EVENT_ATTRIBUTES)},
    {_leftovers("event.attributes", EVENT_ATTRIBUTES)} AS attributes
FROM keyed"""


def select_log_events(requests: str) -> str:
    """Render the named log records of ``requests`` that belong to a span: events by another road."""
    return f"""
WITH resources AS (SELECT unnest(resourceLogs) AS r FROM {requests}),
scopes AS (SELECT unnest(r.scopeLogs) AS s FROM resources),
flat AS (SELECT unnest(s.logRecords) AS event FROM scopes),
keyed AS (
  SELECT event, list_transform(event.attributes, lambda a: a.key) AS keys FROM flat
  WHERE event.eventName <> '' AND event.traceId <> '' AND event.spanId <> ''
)
SELECT
    lower(event.traceId) AS trace_id, lower(event.spanId) AS span_id, NULL::INTEGER AS position, 'log' AS signal,
    event.eventName AS name, coalesce(nullif(event.timeUnixNano, 0), event.observedTimeUnixNano) AS ts_ns,
    {_typed("event.attributes", "keys", EVENT_ATTRIBUTES)},
    {_leftovers("event.attributes", EVENT_ATTRIBUTES)} AS attributes
FROM keyed"""
