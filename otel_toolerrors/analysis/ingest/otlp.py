"""OTLP JSON to rows, in SQL: the typed parse that DuckDB runs on every core.

Both spellings of OTLP JSON pass: fields omitted or empty, 64-bit numbers as
numbers or strings, enums as numbers or names. The parse is strict: a malformed
line, a span without ids or a value that does not fit its column is an error,
and the caller reads that part again line by line (`careful.py`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from otel_toolerrors.analysis.schema import EVENT_ATTRIBUTES, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES, Column, literal

# An attribute's value is taken as text, whatever its type: one list of texts a span costs less than one of structs,
# and a number that some exporter writes as a string is read all the same.
_VALUES = ("stringValue", "intValue", "boolValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue")
_TEXT = f"coalesce({', '.join(f'a.value.{name}' for name in _VALUES)})"

_VALUE = f"STRUCT({', '.join(f'{name} VARCHAR' for name in _VALUES)})"
_ATTRIBUTES = f'STRUCT("key" VARCHAR, "value" {_VALUE})[]'
_EVENT = f'STRUCT(timeUnixNano UBIGINT, "name" VARCHAR, attributes {_ATTRIBUTES})'
_SPAN = (
    'STRUCT(traceId VARCHAR, spanId VARCHAR, parentSpanId VARCHAR, "name" VARCHAR, kind VARCHAR, '
    f"startTimeUnixNano UBIGINT, endTimeUnixNano UBIGINT, attributes {_ATTRIBUTES}, events {_EVENT}[], "
    "links STRUCT(traceId VARCHAR, spanId VARCHAR)[], status STRUCT(code VARCHAR, message VARCHAR))"
)
_LOG_RECORD = (
    "STRUCT(traceId VARCHAR, spanId VARCHAR, timeUnixNano UBIGINT, observedTimeUnixNano UBIGINT, "
    f"eventName VARCHAR, attributes {_ATTRIBUTES})"
)
_REQUEST = {
    "resourceSpans": (
        f"STRUCT(resource STRUCT(attributes {_ATTRIBUTES}), "
        f'scopeSpans STRUCT(scope STRUCT("name" VARCHAR), spans {_SPAN}[])[])[]'
    ),
    "resourceLogs": f"STRUCT(scopeLogs STRUCT(logRecords {_LOG_RECORD}[])[])[]",
    # Not read, but a line that holds one of these is no stranger.
    "resourceMetrics": "JSON",
    "resourceProfiles": "JSON",
}

HOLDS_LOGS = "holds log records"
"""The refusal of requests that need a second look, for log records."""

_KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES = ("UNSET", "OK", "ERROR")


def read_requests(files: Sequence[str]) -> str:
    """Render a table function over files of OTLP JSON lines, one export request a row."""
    columns = ", ".join(f"{name}: {literal(sql_type)}" for name, sql_type in _REQUEST.items())
    paths = ", ".join(map(literal, files))
    # records and sample_size: without them DuckDB guesses from 20,480 objects at every bind.
    return (
        f"read_json([{paths}], columns = {{{columns}}}, format = 'newline_delimited', compression = 'none', "
        "auto_detect = false, records = true, sample_size = 1)"
    )


def select_spans(requests: str, *, logs: bool = True) -> str:
    """Render the spans of ``requests``, one a row, with their events still nested in ``events``.

    A level that is missing altogether is an error: the names may be spelled otherwise. Without ``logs`` it is an
    error, too, if log records are there.
    """
    bad_ids = "length(span.traceId) IS DISTINCT FROM 32 OR length(span.spanId) IS DISTINCT FROM 16"
    stranger = " AND ".join(f"{name} IS NULL" for name in _REQUEST)
    refusals = (
        _refuse(stranger) if logs else f"{_refuse(stranger)} AND {_refuse('resourceLogs IS NOT NULL', HOLDS_LOGS)}"
    )
    return f"""
WITH resources AS (SELECT unnest(resourceSpans) AS r FROM {requests} WHERE {refusals}),
scopes AS (
  SELECT
    {_typed("keys", "texts", RESOURCE_ATTRIBUTES)},
    {_leftovers("keys", "texts", RESOURCE_ATTRIBUTES)} AS resource, unnest(scopes) AS s
  FROM (
    SELECT r.scopeSpans AS scopes, {_unzip("r.resource.attributes")} FROM resources
    WHERE {_refuse("r.scopeSpans IS NULL")}
  )
),
flat AS (
  SELECT * EXCLUDE (s), s.scope.name AS scope, unnest(s.spans) AS span FROM scopes WHERE {_refuse("s.spans IS NULL")}
),
keyed AS (SELECT *, {_unzip("span.attributes")} FROM flat WHERE {_refuse(bad_ids)})
SELECT
  lower(span.traceId) AS trace_id,
  lower(span.spanId) AS span_id, nullif(lower(span.parentSpanId), '') AS parent_span_id, span.name AS name,
  {_enum("span.kind", "SPAN_KIND_", _KINDS)} AS kind,
  coalesce(span.startTimeUnixNano, 0)::BIGINT AS start_ns, nullif(span.endTimeUnixNano, 0)::BIGINT AS end_ns,
  {_enum("span.status.code", "STATUS_CODE_", _STATUSES)} AS status,
  nullif(span.status.message, '') AS status_message, nullif(scope, '') AS scope,
  {", ".join(column.quoted for column in RESOURCE_ATTRIBUTES)},
  {_typed("keys", "texts", SPAN_ATTRIBUTES)},
  {_leftovers("keys", "texts", SPAN_ATTRIBUTES)} AS attributes, resource,
  CASE WHEN len(span.links) > 0 THEN
    list_transform(span.links, lambda k: struct_pack(trace_id := lower(k.traceId), span_id := lower(k.spanId)))
  END AS links,
  list_transform(span.events, lambda e: struct_pack(
    name := e.name, ts_ns := coalesce(e.timeUnixNano, 0)::BIGINT, {_unzip("e.attributes", ":=")}
  )) AS events
FROM keyed"""


def select_event_keys(spans: str) -> str:
    """Render the keys that the events nested in a relation made by :func:`select_spans` have, each once."""
    events = f"SELECT unnest(events) AS event FROM {spans} WHERE len(events) > 0"
    return f"SELECT DISTINCT unnest(event.keys) FROM ({events})"


def select_span_events(spans: str, keys: Container[str] | None = None) -> str:
    """Render the events nested in a relation made by :func:`select_spans`.

    ``keys`` are all that they have, if that is known: looking for the others takes a fifth of the whole.
    """
    present = [column for column in EVENT_ATTRIBUTES if keys is None or column.name in keys]
    columns = present or EVENT_ATTRIBUTES[:1]  # SQL has no empty lists
    return f"""
WITH flat AS (
  SELECT trace_id, span_id, generate_subscripts(events, 1) - 1 AS position, unnest(events) AS event
  FROM {spans} WHERE len(events) > 0
)
SELECT
  trace_id, span_id, position, 'span' AS signal, event.name AS name, event.ts_ns AS ts_ns,
  {_typed("event.keys", "event.texts", columns)},
  {_leftovers("event.keys", "event.texts", columns)} AS attributes
FROM flat"""


def select_log_events(requests: str) -> str:
    """Render the named log records of ``requests`` that belong to a span: events by another road."""
    return f"""
WITH resources AS (SELECT unnest(resourceLogs) AS r FROM {requests}),
scopes AS (SELECT unnest(r.scopeLogs) AS s FROM resources),
flat AS (SELECT unnest(s.logRecords) AS event FROM scopes),
keyed AS (
  SELECT event, {_unzip("event.attributes")} FROM flat
  WHERE event.eventName <> '' AND length(event.traceId) = 32 AND length(event.spanId) = 16
)
SELECT
  lower(event.traceId) AS trace_id, lower(event.spanId) AS span_id, NULL::INTEGER AS position, 'log' AS signal,
  event.eventName AS name, coalesce(nullif(event.timeUnixNano, 0), event.observedTimeUnixNano, 0)::BIGINT AS ts_ns,
  {_typed("keys", "texts", EVENT_ATTRIBUTES)},
  {_leftovers("keys", "texts", EVENT_ATTRIBUTES)} AS attributes
FROM keyed"""


def _refuse(condition: str, why: str = "something is missing") -> str:
    """Render a filter that passes every row, or fails the query."""
    return f"CASE WHEN {condition} THEN error({literal(why)}) ELSE true END"


def _unzip(attributes: str, named: str = "AS") -> str:
    """Render attributes as two lists, of keys and of texts; as columns, or (with ``:=``) as fields of a struct."""
    lists = {
        "keys": f"list_transform({attributes}, lambda a: a.key)",
        "texts": f"list_transform({attributes}, lambda a: {_TEXT})",
    }
    return ", ".join(f"{value} AS {name}" if named == "AS" else f"{name} := {value}" for name, value in lists.items())


def _typed(keys: str, texts: str, columns: Iterable[Column]) -> str:
    def read(column: Column) -> str:
        text = f"{texts}[list_position({keys}, {literal(column.name)})]"
        value = text if column.type == "VARCHAR" else f"CAST({text} AS {column.type})"
        return f"{value} AS {column.quoted}"

    return ",\n  ".join(map(read, columns))


def _leftovers(keys: str, texts: str, columns: Iterable[Column]) -> str:
    """Render what has no column as a map. To be selected beside :func:`_typed`, whose columns it counts."""
    typed = ", ".join(literal(column.name) for column in columns)
    # A missing key is kept, so that the map refuses it.
    untyped = f"list_transform({keys}, lambda k: k IS NULL OR k NOT IN ({typed}))"
    leftovers = f"coalesce(map(list_where({keys}, {untyped}), list_where({texts}, {untyped})), MAP {{}})"
    # Most have none: as many columns are filled as there are keys. That is sooner seen than what each key is.
    filled = " + ".join(f"({column.quoted} IS NOT NULL)::UTINYINT" for column in columns)
    return f"CASE WHEN len({keys}) = {filled} THEN MAP {{}} ELSE {leftovers} END"


def _enum(value: str, prefix: str, names: Sequence[str]) -> str:
    """Render the short name of an enum that arrives as its number, its full name, or (for zero) not at all."""
    numbered = " ".join(f"WHEN '{number}' THEN '{name}'" for number, name in enumerate(names))
    full = " ".join(f"WHEN '{prefix}{name}' THEN '{name}'" for name in names)
    return f"CASE coalesce({value}, '0') {numbered} {full} WHEN '' THEN '{names[0]}' END"
