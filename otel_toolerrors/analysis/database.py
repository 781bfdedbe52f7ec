"""The DuckDB database behind ``open()``: new, kept, or opened again; and its limits."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from .ingest import Ingested, Progress, ingest, ingest_parquet, is_address
from .schema import TABLES, literal
from .sources import TraceSourceError, find_files
from .views import views

_MAGIC = b"DUCK"
_MAGIC_OFFSET = 8
_BATCH_BYTES = 1 << 30
"""Fewer rows than DuckDB compresses at once are stored in one thread, and written twice."""
_SMALLEST_BATCH = 4 << 20
_BATCH_SHARE = 8
"""A batch takes one to two times its size in memory; the rest is for the tables and for sorting."""
_READING, _READING_THREAD = 1_000_000_000, 125_000_000
"""Bytes that reading takes with the largest batch, and with each thread."""
_UNITS = {"": 1, "bytes": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}


@dataclass(frozen=True, slots=True)
class Limits:
    """What the database may take of the machine; None leaves it to DuckDB."""

    memory: str | None = None
    disk: str | None = None
    threads: int | None = None

    def apply(self, connection: duckdb.DuckDBPyConnection, spill: Path) -> None:
        """Set the limits, and where to put what does not fit into memory."""
        settings = {
            "memory_limit": self.memory,
            "temp_directory": str(spill),
            "max_temp_directory_size": self.disk,
            "threads": self.threads,
            # Nothing is fetched from the network because a query mentions it.
            "autoinstall_known_extensions": False,
            "preserve_insertion_order": False,
            # DuckDB 2.0.0 fails while it plans some filters on views over constant columns: "BindBuiltinScalarFunction
            # did not return a BoundFunctionExpression".
            "disabled_optimizers": "statistics_propagation",
        }
        for name, value in settings.items():
            if value is None:
                continue
            try:
                connection.execute(f"SET {name} = {literal(str(value))}")
            except duckdb.Error as error:
                raise TraceSourceError(
                    f"{name} {value!r} is not understood; write for example '2GB'. {error}"
                ) from error


def is_database(path: str | Path) -> bool:
    """Whether ``path`` is a DuckDB file, by its content."""
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(_MAGIC_OFFSET + len(_MAGIC)).endswith(_MAGIC)


def read_files(
    path: str | Path, database: str | Path | None, limits: Limits, progress: Progress | None
) -> tuple[duckdb.DuckDBPyConnection, Ingested]:
    """Read trace files into a new or a kept database."""
    files = [] if is_address(path) else find_files(path)
    connection = _connect(database)
    try:
        with _temporary_folder(database) as folder, _explained(limits, path):
            limits.apply(connection, _spill(database))
            if is_address(path):
                done = ingest_parquet(connection, str(path), folder)
            else:
                batch = _batch_bytes(connection)
                memory = _reading_memory(connection) if database is not None and limits.memory is None else None
                done = ingest(connection, files, folder, batch_bytes=batch, memory=memory, progress=progress)
        create_views(connection)
    except BaseException:
        connection.close()
        raise
    return connection, done


def read_database(path: Path, limits: Limits) -> tuple[duckdb.DuckDBPyConnection, Ingested]:
    """Open a kept database for reading; it is not changed, and its views are this version's."""
    connection = duckdb.connect(":memory:")
    try:
        limits.apply(connection, Path(tempfile.gettempdir()))
        try:
            connection.execute(f"ATTACH {literal(str(path))} AS kept (READ_ONLY)")
        except duckdb.Error as error:
            message = f"{path}: cannot be opened: {error}. Is another process writing to it?"
            raise TraceSourceError(message) from error
        _show_tables(connection, path)
        create_views(connection)
    except BaseException:
        connection.close()
        raise
    return connection, Ingested()


def _show_tables(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Show the attached database's tables under their own names; what an earlier version did not know is NULL."""
    for table, columns in TABLES.items():
        rows = connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE database_name = 'kept' AND table_name = ?", [table]
        ).fetchall()
        found = {row[0] for row in rows}
        if not found:
            raise TraceSourceError(f"{path}: a DuckDB database, but not of traces: it has no table {table}.")
        selected = ", ".join(c.quoted if c.name in found else f"NULL::{c.type} AS {c.quoted}" for c in columns)
        connection.execute(f"CREATE VIEW {table} AS SELECT {selected} FROM kept.{table}")


def create_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the views over the tables, as this version of the vocabulary has them."""
    for name, query in views():
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")


def _connect(database: str | Path | None) -> duckdb.DuckDBPyConnection:
    if database is None:
        return duckdb.connect(":memory:")
    try:
        return duckdb.connect(str(database))
    except duckdb.Error as error:
        message = f"{database}: cannot be opened: {error}. Is another process using it? Else name another file."
        raise TraceSourceError(message) from error


@contextmanager
def _temporary_folder(database: str | Path | None) -> Iterator[Path]:
    """Make a folder for temporary files: beside a kept database, which is ours alone while we hold its lock."""
    if database is None:
        with tempfile.TemporaryDirectory(prefix="toolerrors-") as name:
            yield Path(name)
        return
    folder = Path(f"{database}.reading")
    shutil.rmtree(folder, ignore_errors=True)  # left by a process that was killed
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _spill(database: str | Path | None) -> Path:
    """Where results go that do not fit into memory, as long as the database is open. DuckDB makes and removes it."""
    if database is None:
        return Path(tempfile.gettempdir())
    folder = Path(f"{database}.spill")
    shutil.rmtree(folder, ignore_errors=True)  # as above
    return folder


@contextmanager
def _explained(limits: Limits, path: str | Path) -> Iterator[None]:
    """Turn running out of memory or disk into an error that says what to change."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        message = (
            f"{path}: does not fit into memory_limit={limits.memory or 'the default'} and "
            f"disk_limit={limits.disk or 'the default'}. "
            f"Raise them, or keep the tables on disk with database=. ({error})"
        )
        raise TraceSourceError(message) from error
    except duckdb.IOException as error:
        message = (
            f"{path}: the disk did not take or give the data: {error}. Free some space, or set database= elsewhere."
        )
        raise TraceSourceError(message) from error


def _batch_bytes(connection: duckdb.DuckDBPyConnection) -> int:
    """How much input one transaction takes: less where memory is short."""
    return max(_SMALLEST_BATCH, min(_BATCH_BYTES, _memory(connection) // _BATCH_SHARE))


def _reading_memory(connection: duckdb.DuckDBPyConnection) -> str:
    """What reading into a file is given, or less where memory is short."""
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchall()[0]
    return f"{min(_memory(connection), _READING + threads * _READING_THREAD)}B"


def _memory(connection: duckdb.DuckDBPyConnection) -> int:
    setting = connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    match = re.fullmatch(r"([\d.]+)\s*(\w*)", setting)
    return int(float(match[1]) * _UNITS[match[2].lower()]) if match else _BATCH_BYTES * _BATCH_SHARE
