"""Our own Parquet files: one row a span or an event, in folders by day and service."""

from __future__ import annotations

from pathlib import Path

import duckdb

from otel_toolerrors.analysis.schema import SPAN_EVENTS_TABLE, SPANS_TABLE, literal

_TABLES = {
    "spans": ("batch", SPANS_TABLE, "parent_span_id"),
    "span_events": ("loose_events", SPAN_EVENTS_TABLE, "position"),
}
_DAY = "strftime(make_timestamp({ns} // 1000), '%Y-%m-%d')"


class NotOursError(Exception):
    """A Parquet file holds neither our spans nor our events."""


def select_parquet(connection: duckdb.DuckDBPyConnection, path: str | Path) -> tuple[str, str]:
    """Tell which temporary table the rows of a Parquet file belong to, and render their query."""
    reader = f"read_parquet({literal(str(path))}, hive_partitioning = false)"
    found = {row[0] for row in connection.execute(f"DESCRIBE FROM {reader}").fetchall()}
    for table, columns, telltale in _TABLES.values():
        if {"trace_id", "span_id", telltale} <= found:
            # A file of an earlier version may lack columns; one of a later version may have more.
            known = ", ".join(column.quoted for column in columns if column.name in found)
            return table, f"SELECT {known} FROM {reader}"
    raise NotOursError("a Parquet file of another kind: not written by Traces.export()")


def export(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write all spans and events to ``folder`` as Parquet, in ``day=…/service=…`` folders."""
    folder.mkdir(parents=True, exist_ok=True)
    queries = {
        "spans": f"SELECT *, {_DAY.format(ns='start_ns')} AS day, coalesce(\"service.name\", 'unknown') AS service FROM spans",
        "span_events": f"""
            SELECT e.*, {_DAY.format(ns="coalesce(e.ts_ns, 0)")} AS day, coalesce(s."service.name", 'unknown') AS service
            FROM span_events e LEFT JOIN spans s USING (trace_id, span_id)""",
    }
    for name, query in queries.items():
        connection.execute(
            f"COPY ({query}) TO {literal(str(folder / name))} "
            "(FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, service))"
        )
