"""Our own Parquet files: one row a span or an event, in folders by day and service."""

from __future__ import annotations

from pathlib import Path

import duckdb

from otel_toolerrors.analysis.schema import SPAN_EVENTS_TABLE, SPANS_TABLE, literal

from .object_storage import is_address, load_httpfs

_TABLES = (("batch", SPANS_TABLE, "parent_span_id"), ("loose_events", SPAN_EVENTS_TABLE, "position"))
"""Where the rows of each kind of file go, what columns they have, and by which column the kind is known."""

_EXPORTS = {
    "spans": "SELECT s.*, {day}, {service} FROM (SELECT *, start_ns AS ns FROM spans) s",
    "span_events": """
        SELECT e.*, {day}, {service}
        FROM (SELECT *, ts_ns AS ns FROM span_events) e LEFT JOIN spans s USING (trace_id, span_id)""",
}
_DAY = "strftime(make_timestamp(ns // 1000), '%Y-%m-%d') AS day"
_SERVICE = """coalesce(s."service.name", 'unknown') AS service"""


class NotOursError(Exception):
    """A Parquet file holds neither our spans nor our events."""


def select_parquet(connection: duckdb.DuckDBPyConnection, path: str | Path) -> tuple[str, str]:
    """Tell which temporary table the rows of a Parquet file belong to, and render their query."""
    reader = f"read_parquet({literal(str(path))}, hive_partitioning = false)"
    found = {row[0] for row in connection.execute(f"DESCRIBE FROM {reader}").fetchall()}
    for table, columns, telltale in _TABLES:
        if {"trace_id", "span_id", telltale} <= found:
            # A file of an earlier version may lack columns; one of a later version may have more.
            known = ", ".join(column.quoted for column in columns if column.name in found)
            return table, f"SELECT {known} FROM {reader}"
    raise NotOursError("a Parquet file of another kind: not written by Traces.export()")


def export(connection: duckdb.DuckDBPyConnection, folder: str | Path) -> None:
    """Write all spans and events as Parquet to ``day=…/service=…`` in ``folder``, perhaps on object storage."""
    if is_address(folder):
        load_httpfs(connection, str(folder))
    else:
        Path(folder).mkdir(parents=True, exist_ok=True)
    for name, query in _EXPORTS.items():
        rows = f"SELECT * EXCLUDE (ns) FROM ({query.format(day=_DAY, service=_SERVICE)})"
        place = literal(f"{folder}/{name}")
        connection.execute(f"COPY ({rows}) TO {place} (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service))")
