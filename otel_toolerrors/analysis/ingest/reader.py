"""Trace files into a database: what was read before is not read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from otel_toolerrors.analysis.schema import literal
from otel_toolerrors.analysis.sources import TraceSourceError

from .chunks import Chunk, chunks
from .object_storage import list_parquet, load_httpfs
from .parquet import NotOursError
from .store import Counts, Store

Progress = Callable[[int, int], None]
"""Called with the bytes of the files that are done, and of all files."""

_MOST_FILES = 200
"""Files read in one transaction, however small."""


@dataclass(slots=True)
class Ingested:
    """What one ``open()`` read."""

    files: int = 0
    """Files read, wholly or from where they had grown."""
    unchanged: int = 0
    """Files that held nothing new."""
    spans: int = 0
    """Spans that are new in the database."""
    duplicates: int = 0
    """Further copies of spans: one is kept, that which ended last."""
    quarantined: int = 0
    """Rows added to the table ``quarantine``."""


def ingest(
    connection: duckdb.DuckDBPyConnection,
    files: Iterable[Path],
    folder: Path,
    *,
    batch_bytes: int,
    memory: str | None = None,
    progress: Progress | None = None,
) -> Ingested:
    """Read ``files`` into the tables of ``connection``, a batch and a transaction at a time.

    Args:
        connection: the database.
        files: trace files, in the order in which to read them.
        folder: for temporary files; the caller removes it.
        batch_bytes: how much (decompressed) input one transaction takes.
        memory: DuckDB's ``memory_limit`` for the time of reading; given up if a batch turns out to need more. Without
            it DuckDB keeps every block that it wrote as long as the machine has any memory.
        progress: told how far it is, after each file.

    Raises:
        TraceSourceError: a file may not be read.
    """
    if memory is not None:
        connection.execute(f"SET memory_limit = {literal(memory)}")
    try:
        return _Reading(connection, folder, batch_bytes, limited=memory is not None).run(list(files), progress)
    finally:
        if memory is not None:
            connection.execute("RESET memory_limit")


def ingest_parquet(connection: duckdb.DuckDBPyConnection, address: str, folder: Path) -> Ingested:
    """Read our own Parquet from object storage, a file and a transaction at a time.

    Raises:
        TraceSourceError: the storage cannot be read, or holds something else.
    """
    load_httpfs(connection, address)
    store, done = Store(connection, folder), Ingested()
    try:
        for file in list_parquet(connection, address):
            counts = store.commit_parquet(file)
            done.files += 1
            done.spans += counts.spans
            done.duplicates += counts.duplicates
        store.close()
    except (NotOursError, duckdb.IOException, duckdb.PermissionException) as error:
        message = f"{address}: cannot be read: {error}. Check the address, and DuckDB's secrets for it."
        raise TraceSourceError(message) from error
    return done


class _Reading:
    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path, batch_bytes: int, *, limited: bool) -> None:
        self._connection = connection
        self._limited = limited
        self._store = Store(connection, folder)
        self._folder = folder
        self._batch_bytes = batch_bytes
        self._batch: list[Chunk] = []
        self._bytes = 0
        self._done = Ingested()

    def run(self, files: list[Path], progress: Progress | None) -> Ingested:
        sizes = {file: _size(file) for file in files}
        total, read = sum(sizes.values()), 0
        for file in files:
            try:
                self._read(file, sizes[file])
            except FileNotFoundError:
                continue  # rotated away since it was listed: the next reading finds it under its new name
            except PermissionError as error:
                message = f"{file}: may not be read by this user. Change its permissions, or leave it out."
                raise TraceSourceError(message) from error
            read += sizes[file]
            if progress:
                progress(read, total)
        self._commit()
        self._store.close()
        return self._done

    def _read(self, file: Path, size: int) -> None:
        known = self._store.ledger.find(file)
        if known and known.size == size and (known.path == str(file) or known.offset == size):
            self._done.unchanged += 1
            return
        self._done.files += 1
        for chunk in chunks(file, known, self._folder, self._batch_bytes):
            self._batch.append(chunk)
            self._bytes += chunk.file.stat().st_size if chunk.file else 0
            if self._bytes >= self._batch_bytes or len(self._batch) >= _MOST_FILES:
                self._commit()

    def _commit(self) -> None:
        if not self._batch:
            return
        counts = self._store_batch()
        self._done.spans += counts.spans
        self._done.duplicates += counts.duplicates
        self._done.quarantined += counts.quarantined
        for chunk in self._batch:
            if chunk.is_copy and chunk.file:
                chunk.file.unlink()
        self._batch, self._bytes = [], 0

    def _store_batch(self) -> Counts:
        try:
            return self._store.commit(self._batch)
        except duckdb.OutOfMemoryException:
            if not self._limited:
                raise
            self._limited = False
            self._connection.execute("RESET memory_limit")
            return self._store.commit(self._batch)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
