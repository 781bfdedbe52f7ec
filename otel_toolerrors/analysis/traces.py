"""``open()`` and what it returns: traces as tables and views, ready for questions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import duckdb

from .database import Limits, is_database, read_database, read_files
from .ingest import Ingested, Progress, export
from .sources import TraceSourceError, is_clickhouse

if TYPE_CHECKING:
    from otel_toolerrors.policy import Policy


class Traces:
    """Traces in DuckDB: tables ``spans``, ``span_events``, ``quarantine``, and a view for every vocabulary record."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, ingested: Ingested) -> None:
        self._connection = connection
        self.ingested = ingested
        """What opening read: files, spans, duplicates, quarantined."""

    def sql(self, query: str, params: Any = None) -> duckdb.DuckDBPyRelation:
        """Ask in DuckDB's SQL, and get its relation: ``.fetchall()``, ``.df()``, ``.show()``, ``.aggregate(…)``.

        Each query runs on a cursor of its own, so that a result which is not read to the end locks nothing.
        """
        return self._connection.cursor().sql(query, params=params)

    def findings(self, **options: Any) -> Any:
        """Report what the layer got wrong or could do better, each finding with its evidence and a proposed change."""
        from .findings import find  # noqa: PLC0415 - heavy, and built on this module

        return find(self, **options)

    def replay(self, policy: Policy, **options: Any) -> Any:
        """Tell what would have happened under another policy, by running the engine over the recorded calls."""
        from .replay import replay  # noqa: PLC0415 - as above

        return replay(self, policy, **options)

    def tune(self, **options: Any) -> Any:
        """Search for a better policy, with a reason for each number."""
        from .tune import tune  # noqa: PLC0415 - as above

        return tune(self, **options)

    @contextmanager
    def snapshot(self) -> Iterator[Traces]:
        """Give the same traces with each view computed once, for many questions in a row."""
        from .snapshot import Snapshot  # noqa: PLC0415 - built on this module

        with Snapshot(self._connection, self.ingested) as stored:
            yield stored

    def export(self, folder: str | Path) -> None:
        """Write spans and events to ``folder`` (or ``s3://…``) as Parquet, by day and service; `open()` reads it back.

        Raises:
            TraceSourceError: the folder already holds an export.
        """
        try:
            export(self._connection.cursor(), folder)
        except duckdb.IOException as error:
            raise TraceSourceError(f"{folder}: cannot be written: {error}. Name a new folder.") from error

    def close(self) -> None:
        """Release the database."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open(  # noqa: A001 - `analysis.open(path)` is the public name, and says what it does
    path: str | Path,
    *,
    database: str | Path | None = None,
    memory_limit: str | None = None,
    disk_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Traces:
    """Read traces into DuckDB.

    Args:
        path: a file, a folder or a glob of trace files; a database that an earlier call wrote; or the address of a
            ClickHouse server that the collector writes to, ``clickhouse://host/database``, which then does the work;
            or of our own Parquet on object storage, ``s3://bucket/traces``.
        database: keep the tables in this ``.duckdb`` file. A later call reads only what is new. In memory otherwise.
        memory_limit: the most memory DuckDB may take, such as ``"2GB"``; 80 % of the machine's otherwise.
        disk_limit: the most it may take on disk for what does not fit into memory, such as ``"10GB"``.
        threads: the most threads it may run; one a core otherwise.
        progress: called with bytes done and bytes in all, after each file.

    Raises:
        TraceSourceError: nothing to read, not readable, or not within the limits; the message says what to do.
    """
    if is_clickhouse(path):
        if (database, memory_limit, disk_limit, threads) != (None,) * 4:
            raise TraceSourceError(f"{path}: the server has limits of its own. Open it without database= and limits.")
        from .clickhouse import open_clickhouse  # noqa: PLC0415 - built on this module

        return open_clickhouse(str(path))
    if is_database(path):
        if database is not None:
            raise TraceSourceError(f"{path}: is a database already. Open it without database=.")
        return Traces(*read_database(Path(path), Limits(memory_limit, disk_limit, threads)))
    return Traces(*read_files(path, database, Limits(memory_limit, disk_limit, threads), progress))
