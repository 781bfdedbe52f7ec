"""The tables and views of a session: a copy of one window of time, made once.

The copy is temporary and belongs to the session: nothing is created in the user's
database, the collector may go on writing, and every question is about the same spans.
Derived views are stored too. ClickHouse would otherwise run the whole tree of them again
for every mention of a view.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from otel_toolerrors.analysis.schema import literal
from otel_toolerrors.analysis.sources import TraceSourceError
from otel_toolerrors.analysis.views import views

from . import contract
from .dialect import SETTINGS, Columns, render_view
from .engine import Engine

_WINDOW = "otel_window"
_ROWS = "JSONCompactEachRow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What to look at: the exporter's tables, and when the spans began."""

    traces: str = "otel_traces"
    logs: str = "otel_logs"
    since: datetime | None = None
    until: datetime | None = None

    @property
    def where(self) -> str:
        """The window of time, for SQL."""
        bounds = ((">=", self.since), ("<", self.until))
        told = [f"Timestamp {sign} {_sql_time(at)}" for sign, at in bounds if at is not None]
        return " AND ".join(told) or "true"


def take(engine: Engine, source: Source) -> int:
    """Copy the window into the session's own tables, make the views, and count the spans.

    Raises:
        TraceSourceError: the table of traces is not there, or the user may not do this.
    """
    _run(engine, "SET " + ", ".join(f"{name} = {_setting(value)}" for name, value in SETTINGS.items()))
    if not _exists(engine, source.traces):
        raise TraceSourceError(
            f"{engine.place}: has no table {source.traces}. Name the database in the address, and the table with "
            "?traces= if the exporter's traces_table_name is another."
        )
    _store(engine, _WINDOW, contract.select_window(_quoted(source.traces), source.where))
    _store(engine, "spans", contract.select_spans(_WINDOW))
    _store(engine, "span_events", "\nUNION ALL\n".join(_events(engine, source)))
    _run(engine, f"DROP TABLE {_WINDOW}")
    for name, query in views():
        _store(engine, name, render_view(query, lambda query: _describe(engine, query)))
    return int(json.loads(_run(engine, "SELECT count(*) FROM spans FORMAT JSONCompact"))["data"][0][0])


def _events(engine: Engine, source: Source) -> Iterator[str]:
    yield contract.select_span_events(_WINDOW)
    if _exists(engine, source.logs):
        yield contract.select_log_events(_quoted(source.logs), source.where)


def _store(engine: Engine, name: str, query: str) -> None:
    # A temporary table would be kept in memory; one of this engine is on the server's disk.
    _run(engine, f"CREATE TEMPORARY TABLE {name} ENGINE = MergeTree ORDER BY tuple() AS {query}")


def _describe(engine: Engine, query: str) -> Columns:
    lines = _run(engine, f"DESCRIBE ({query})").decode().splitlines()
    return {row[0]: row[1] for row in map(json.loads, lines)}


def _exists(engine: Engine, table: str) -> bool:
    return _run(engine, f"EXISTS TABLE {_quoted(table)}").strip() == b"[1]"


def _run(engine: Engine, statement: str) -> bytes:
    return engine.ask(statement, {}, _ROWS)


def _quoted(table: str) -> str:
    return ".".join(f'"{part}"' for part in table.replace('"', "").split("."))


def _setting(value: int | str) -> str:
    return literal(value) if isinstance(value, str) else str(value)


def _sql_time(at: datetime) -> str:
    return f"toDateTime64({literal(at.astimezone(UTC).strftime('%Y-%m-%d %H:%M:%S.%f'))}, 9, 'UTC')"
