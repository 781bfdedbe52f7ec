"""``open()`` and what it returns: traces as tables and views, ready for questions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import duckdb

from . import otlp
from .schema import TABLES, create_table
from .sources import find_files
from .views import views

if TYPE_CHECKING:
    from otel_toolerrors.policy import Policy


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one ``open()`` read."""

    files: int = 0
    spans: int = 0
    duplicates: int = 0
    quarantined: int = 0


class Traces:
    """Traces in DuckDB: tables ``spans``, ``span_events``, ``quarantine`` and a view for every record of the vocabulary."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, ingested: Ingested) -> None:
        self._connection = connection
        self.ingested = ingested

    def sql(self, query: str, params: Any = None) -> duckdb.DuckDBPyRelation:
        """Ask in DuckDB's SQL, and get its relation: ``.fetchall()``, ``.df()``, ``.show()``, ``.aggregate(…)``.

        Each query runs on a cursor of its own, so that a result which is not read to the end locks nothing.
        """
        return self._connection.cursor().sql(query, params=params)

    def findings(self, **options: Any) -> Any:
        """Report what the layer got wrong or could do better, each finding with its evidence and a proposed change."""
        from .findings import find

        return find(self, **options)

    def replay(self, policy: Policy, **options: Any) -> Any:
        """Tell what would have happened under another policy, by running the engine over the recorded calls."""
        from .replay import replay

        return replay(self, policy, **options)

    def tune(self, **options: Any) -> Any:
        """Search for a better policy, with a reason for each number."""
        from .tune import tune

        return tune(self, **options)

    def close(self) -> None:
        """Release the database."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open(  # noqa: A001 - `analysis.open(path)` is the public name, and reads as what it does
    path: str | Path, *, database: str | Path | None = None, memory_limit: str | None = None
) -> Traces:
    """Read the traces at ``path``."""
    files = find_files(path)
    connection = duckdb.connect(str(database or ":memory:"))
    if memory_limit:
        connection.execute("SET memory_limit = ?", [memory_limit])
    for name, columns in TABLES.items():
        connection.execute(create_table(name, columns))
    requests = otlp.read_requests([str(file) for file in files])
    connection.execute(f"CREATE TEMP TABLE batch AS {otlp.select_spans(requests)}")
    connection.execute("INSERT INTO spans BY NAME SELECT * EXCLUDE (events) FROM batch")
    connection.execute(f"INSERT INTO span_events BY NAME {otlp.select_span_events('batch')}")
    connection.execute(f"INSERT INTO span_events BY NAME {otlp.select_log_events(requests)}")
    connection.execute("DROP TABLE batch")
    for name, query in views():
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
    spans = connection.execute("SELECT count(*) FROM spans").fetchall()[0][0]
    return Traces(connection, Ingested(files=len(files), spans=spans))
