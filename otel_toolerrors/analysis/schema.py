"""The tables that traces are read into, generated from the vocabulary.

A column whose name holds a dot is an attribute under exactly that key:
``spans."gen_ai.tool.name"``. Every key of the vocabulary has a column; what else
a span, an event or a resource carries is in a ``MAP(VARCHAR, VARCHAR)``:
``spans.attributes['openinference.span.kind']``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_toolerrors.vocabulary import EVENTS, SPANS, attributes_of

SQL_TYPES = {"string": "VARCHAR", "int": "BIGINT", "double": "DOUBLE", "boolean": "BOOLEAN"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a base table."""

    name: str
    type: str

    @property
    def quoted(self) -> str:
        """The name as SQL writes it."""
        return f'"{self.name}"'


def literal(text: str) -> str:
    """Quote a string for SQL."""
    return "'" + text.replace("'", "''") + "'"


def _vocabulary_columns(records: Iterable[type]) -> tuple[Column, ...]:
    types = {attr.key: SQL_TYPES[attr.type] for record in records for attr in attributes_of(record).values()}
    return tuple(Column(key, sql_type) for key, sql_type in types.items())


RESOURCE_ATTRIBUTES = tuple(
    Column(key, "VARCHAR")
    for key in (
        "service.name",
        "service.version",
        "service.instance.id",
        "deployment.environment.name",
        # Every SDK writes these three: columns cost less than entries in a map.
        "telemetry.sdk.name",
        "telemetry.sdk.language",
        "telemetry.sdk.version",
    )
)
SPAN_ATTRIBUTES = _vocabulary_columns(SPANS)
EVENT_ATTRIBUTES = _vocabulary_columns(EVENTS)

ATTRIBUTE_MAP = "MAP(VARCHAR, VARCHAR)"

SPANS_TABLE = (
    Column("trace_id", "VARCHAR"),
    Column("span_id", "VARCHAR"),
    Column("parent_span_id", "VARCHAR"),
    Column("name", "VARCHAR"),
    Column("kind", "VARCHAR"),
    Column("start_ns", "BIGINT"),
    Column("end_ns", "BIGINT"),
    Column("status", "VARCHAR"),
    Column("status_message", "VARCHAR"),
    Column("scope", "VARCHAR"),
    *RESOURCE_ATTRIBUTES,
    *SPAN_ATTRIBUTES,
    Column("attributes", ATTRIBUTE_MAP),
    Column("resource", ATTRIBUTE_MAP),
    Column("links", "STRUCT(trace_id VARCHAR, span_id VARCHAR)[]"),
)

SPAN_EVENTS_TABLE = (
    Column("trace_id", "VARCHAR"),
    Column("span_id", "VARCHAR"),
    Column("position", "INTEGER"),
    Column("signal", "VARCHAR"),
    Column("name", "VARCHAR"),
    Column("ts_ns", "BIGINT"),
    *EVENT_ATTRIBUTES,
    Column("attributes", ATTRIBUTE_MAP),
)

QUARANTINE_TABLE = (
    Column("path", "VARCHAR"),
    Column("line", "BIGINT"),
    Column("offset", "BIGINT"),
    Column("reason", "VARCHAR"),
    Column("head", "VARCHAR"),
)

SOURCES_TABLE = (
    Column("path", "VARCHAR"),
    Column("head_length", "BIGINT"),
    Column("head", "VARCHAR"),
    Column("offset", "BIGINT"),
    Column("tail", "VARCHAR"),
    Column("size", "BIGINT"),
    Column("framing", "VARCHAR"),
)

TABLES = {
    "spans": SPANS_TABLE,
    "span_events": SPAN_EVENTS_TABLE,
    "quarantine": QUARANTINE_TABLE,
    "sources": SOURCES_TABLE,
}


def create_table(name: str, columns: Iterable[Column]) -> str:
    """Render the statement that makes a base table where it is missing."""
    rows = ",\n  ".join(f"{column.quoted} {column.type}" for column in columns)
    return f"CREATE TABLE IF NOT EXISTS {name} (\n  {rows}\n)"
