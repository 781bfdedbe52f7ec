"""The collector exporter's tables, read as our tables ``spans`` and ``span_events``.

The exporter writes every attribute as text into a map. Ours become typed columns, what
is left stays in a map, and what is missing is NULL.
"""

from __future__ import annotations

from collections.abc import Iterable

from otel_toolerrors.analysis.schema import (
    EVENT_ATTRIBUTES,
    RESOURCE_ATTRIBUTES,
    SPAN_ATTRIBUTES,
    Column,
    literal,
)
from otel_toolerrors.vocabulary import EVENTS

_MARKS = (
    "toolerrors.run.id",
    "toolerrors.attempt",
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "openinference.span.kind",
    "traceloop.span.kind",
    "langsmith.span.kind",
)
"""A span with one of these attributes tells of a run, a call, an attempt or a model's turn."""

_MAP = "Map(String, Nullable(String))"
"""With nullable values a missing key is NULL, as in DuckDB."""

_LARGEST = 2**62
"""Nanoseconds; a span that never ended has a duration beyond, since the exporter's is unsigned."""


def select_window(table: str, where: str) -> str:
    """Render the spans that tell of agents, as the exporter wrote them. Of copies the one that ended last counts."""
    return f"""
SELECT * FROM {table} WHERE hasAny(mapKeys(SpanAttributes), [{_literals(_MARKS)}]) AND {where}
ORDER BY Timestamp + toIntervalNanosecond(Duration) DESC LIMIT 1 BY TraceId, SpanId"""


def select_spans(window: str) -> str:
    """Render them as the table ``spans``."""
    begin = "toUnixTimestamp64Nano(Timestamp)"
    return f"""
SELECT {_IDS}, nullIf(lower(ParentSpanId), '') AS parent_span_id,
  {_text("SpanName")} AS name, {_text("upper(SpanKind)")} AS kind, toNullable({begin}) AS start_ns,
  if(Duration < {_LARGEST}, {begin} + toInt64(Duration), NULL) AS end_ns, {_text("upper(StatusCode)")} AS status,
  nullIf(StatusMessage, '') AS status_message, nullIf(ScopeName, '') AS scope,
  {_typed("ResourceAttributes", RESOURCE_ATTRIBUTES)},
  {_typed("SpanAttributes", SPAN_ATTRIBUTES)},
  {_leftovers("SpanAttributes", SPAN_ATTRIBUTES)} AS attributes,
  {_leftovers("ResourceAttributes", RESOURCE_ATTRIBUTES)} AS resource,
  CAST(arrayZip(arrayMap(x -> lower(x), Links.TraceId), arrayMap(x -> lower(x), Links.SpanId))
    AS Array(Tuple(trace_id String, span_id String))) AS links
FROM {window}"""


def select_span_events(window: str) -> str:
    """Render their events as the table ``span_events``."""
    return f"""
SELECT {_IDS}, CAST(place - 1 AS Nullable(Int32)) AS position, toNullable('span') AS signal,
  {_text("event_name")} AS name, toNullable(toUnixTimestamp64Nano(at)) AS ts_ns,
  {_event_columns("event_attributes")}
FROM {window}
ARRAY JOIN Events.Timestamp AS at, Events.Name AS event_name, Events.Attributes AS event_attributes,
  arrayEnumerate(Events.Name) AS place"""


def select_log_events(table: str, where: str) -> str:
    """Render the log records that are our events and belong to a span: events by another road."""
    return f"""
SELECT {_IDS}, CAST(NULL AS Nullable(Int32)) AS position, toNullable('log') AS signal,
  {_text("EventName")} AS name, toNullable(toUnixTimestamp64Nano(Timestamp)) AS ts_ns,
  {_event_columns("LogAttributes")}
FROM {table} WHERE EventName IN ({_literals(event.NAME for event in EVENTS)})
  AND length(TraceId) = 32 AND length(SpanId) = 16 AND {where}"""


def _text(expression: str) -> str:
    """Render text that can be NULL: it never is here, but it is beyond the edge of a window or of a join."""
    return f"CAST({expression} AS Nullable(String))"


_IDS = f"{_text('lower(TraceId)')} AS trace_id, {_text('lower(SpanId)')} AS span_id"


def _event_columns(attributes: str) -> str:
    return f"{_typed(attributes, EVENT_ATTRIBUTES)},\n  {_leftovers(attributes, EVENT_ATTRIBUTES)} AS attributes"


def _typed(attributes: str, columns: Iterable[Column]) -> str:
    return ",\n  ".join(f"{_value(attributes, column)} AS {column.quoted}" for column in columns)


def _value(attributes: str, column: Column) -> str:
    text = f"{attributes}[{literal(column.name)}]"
    if column.type == "VARCHAR":
        return f"if(mapContains({attributes}, {literal(column.name)}), {text}, NULL)"
    return {
        "BIGINT": f"toInt64OrNull({text})",
        "DOUBLE": f"toFloat64OrNull({text})",
        "BOOLEAN": f"CAST(multiIf({text} = 'true', 1, {text} = 'false', 0, NULL) AS Nullable(Bool))",
    }[column.type]


def _leftovers(attributes: str, columns: Iterable[Column]) -> str:
    return f"CAST(mapFilter((k, v) -> k NOT IN ({_literals(c.name for c in columns)}), {attributes}) AS {_MAP})"


def _literals(texts: Iterable[str]) -> str:
    return ", ".join(map(literal, texts))
