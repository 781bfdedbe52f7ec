"""``open()`` on an address of ClickHouse, and what it returns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import SplitResult, parse_qs

import duckdb

from otel_toolerrors.analysis.ingest import Ingested
from otel_toolerrors.analysis.schema import TABLES, create_table
from otel_toolerrors.analysis.sources import TraceSourceError
from otel_toolerrors.analysis.traces import Traces

from .dialect import bind, render
from .engine import Engine, connect, moment, split
from .snapshot import Source, take

_CONTRACT = ("spans", "span_events")


class ClickHouseTraces(Traces):
    """Traces in ClickHouse: the same tables, views, findings and replay; only answers come here."""

    def __init__(self, engine: Engine, source: Source | None = None) -> None:
        """Copy a window of time into tables of the session, and make the views.

        Raises:
            TraceSourceError: the exporter's tables are not there, or the user may not do this.
        """
        self._engine = engine
        super().__init__(duckdb.connect(":memory:"), Ingested(spans=take(engine, source or Source())))

    def sql(self, query: str, params: Any = None) -> duckdb.DuckDBPyRelation:
        """Ask ClickHouse, and get its answer as a relation of DuckDB's.

        The query may use ClickHouse's own SQL, and what of DuckDB's :mod:`.dialect` renders.

        Raises:
            TraceSourceError: ClickHouse refuses the query.
            ValueError: a parenthesis is missing, or ``params`` and the question marks do not match.
        """
        text, values = bind(render(query), list(params or ()))
        return self._relation(self._engine.ask(text, values, "Parquet"))

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """Give itself: its views are stored already."""
        yield self

    def export(self, folder: str | Path) -> None:
        """Write spans and events to ``folder`` as Parquet, by day and service; `open()` reads it back, on DuckDB.

        Raises:
            TraceSourceError: the folder already holds an export.
        """
        for table in _CONTRACT:
            self._connection.execute(create_table(table, TABLES[table]))
            self._connection.execute(f"DELETE FROM {table}")
            with tempfile.TemporaryDirectory() as temporary:
                file = _write(temporary, self._engine.ask(f"SELECT * FROM {table}", {}, "Parquet"))
                self._connection.execute(f"INSERT INTO {table} BY NAME FROM read_parquet(?)", [file])
        super().export(folder)

    def close(self) -> None:
        """End the session: its tables are gone with it."""
        super().close()
        self._engine.close()

    def _relation(self, parquet: bytes) -> duckdb.DuckDBPyRelation:
        """Each answer is a temporary table of a cursor of its own, and goes with it."""
        cursor = self._connection.cursor()
        with tempfile.TemporaryDirectory() as folder:
            cursor.execute("CREATE TEMP TABLE answer AS FROM read_parquet(?)", [_write(folder, parquet)])
        return cursor.sql("FROM answer")


def open_clickhouse(address: str) -> ClickHouseTraces:
    """Look at the traces that the collector's exporter wrote to a ClickHouse server.

    ``clickhouse://user:password@host:8123/database?since=2026-11-01T00:00:00Z&until=…`` (and ``clickhouse+https://``);
    user and password also from ``CLICKHOUSE_USER`` and ``CLICKHOUSE_PASSWORD``. ``traces=`` and ``logs=`` name the
    exporter's tables if they are not ``otel_traces`` and ``otel_logs``. ``chdb:///folder?traces=otel.otel_traces`` is
    the engine inside this process.

    Raises:
        TraceSourceError: nothing there, not understood, or not allowed; the message says what to do.
    """
    url = split(address)
    source = _source(url)
    engine = connect(url)
    try:
        return ClickHouseTraces(engine, source)
    except BaseException:
        engine.close()
        raise


def _source(url: SplitResult) -> Source:
    options: dict[str, Any] = {name: values[-1] for name, values in parse_qs(url.query).items()}
    if unknown := options.keys() - {"since", "until", "traces", "logs"}:
        raise TraceSourceError(
            f"{', '.join(sorted(unknown))}: unknown in an address; known: since, until, traces, logs"
        )
    for name in ("since", "until"):
        if name in options:
            options[name] = moment(options[name], name)
    return Source(**options)


def _write(folder: str, parquet: bytes) -> str:
    file = Path(folder) / "answer.parquet"
    file.write_bytes(parquet)
    return str(file)
