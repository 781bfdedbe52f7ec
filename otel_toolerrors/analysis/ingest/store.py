"""One batch of chunks into the tables, in one transaction: rows, what was refused, and how far was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import duckdb

from otel_toolerrors.analysis.schema import SPAN_EVENTS_TABLE, SPANS_TABLE, TABLES, create_table

from . import otlp
from .chunks import Chunk, Rejected
from .ledger import Ledger, mark
from .staging import REFUSED, Staging, transaction


@dataclass(frozen=True, slots=True)
class Counts:
    """What a batch brought."""

    spans: int
    duplicates: int
    quarantined: int


class Store:
    """The tables of a database, and the way into them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self._connection = connection
        for name, columns in TABLES.items():
            connection.execute(create_table(name, columns))
            found = {row[0] for row in connection.execute(f"DESCRIBE {name}").fetchall()}
            for column in columns:
                if column.name not in found:  # a database of an earlier version
                    connection.execute(f"ALTER TABLE {name} ADD COLUMN {column.quoted} {column.type}")
        self._staging = Staging(connection, folder)
        self.ledger = Ledger(connection)

    def commit(self, chunks: Sequence[Chunk]) -> Counts:
        """Read ``chunks`` and store what is new in them: all of it, or after a crash nothing."""
        self._make_room()
        try:
            return self._commit(chunks, self._staging.read(chunks, check_events=False))
        except REFUSED:  # by an event, which is only looked into when it is stored
            return self._commit(chunks, self._staging.read(chunks, check_events=True))

    def commit_parquet(self, file: str) -> Counts:
        """Store what is new in a Parquet file of ours that is elsewhere. It is read again the next time."""
        self._make_room()
        self._staging.read_parquet(file)
        with transaction(self._connection):
            spans, duplicates = self._store_spans()
            self._store_loose_events()
        return Counts(spans, duplicates, 0)

    def close(self) -> None:
        """Forget what was only needed to read."""
        self._staging.drop()

    def _make_room(self) -> None:
        """Make usable again what the last batch took: temporary tables, and blocks of the file that it wrote twice."""
        self._staging.empty()
        self._connection.execute("CHECKPOINT")

    def _commit(self, chunks: Sequence[Chunk], rejected: list[Rejected]) -> Counts:
        rejected += [row for chunk in chunks for row in chunk.rejected]
        marks = [
            mark(chunk.source, chunk.resume, chunk.size if chunk.last else chunk.resume, chunk.framing.value)
            for chunk in chunks
            if chunk.resume is not None
        ]
        with transaction(self._connection):
            spans, duplicates = self._store_spans()
            self._store_loose_events()
            quarantined = self._quarantine(chunks, rejected)
            self.ledger.save(self._connection, marks)
        return Counts(spans, duplicates, quarantined)

    def _store_spans(self) -> tuple[int, int]:
        total = _one(self._connection, "SELECT count(*) FROM batch")
        duplicates = self._drop_duplicates() if total else 0
        columns = ", ".join(column.quoted for column in SPANS_TABLE)
        self._connection.execute(f"INSERT INTO spans ({columns}) SELECT {columns} FROM batch")
        keys = {row[0] for row in self._connection.execute(otlp.select_event_keys("batch")).fetchall()}
        self._connection.execute(f"INSERT INTO span_events BY NAME {otlp.select_span_events('batch', keys)}")
        return total - duplicates, duplicates

    def _drop_duplicates(self) -> int:
        """Keep one copy of each span, wherever it is: that which ended last. Count the copies that are not kept."""
        connection = self._connection
        total, distinct, first, last = connection.execute(_BATCH_SUMMARY).fetchall()[0]
        copies = 0
        if distinct < total:
            connection.execute(_DROP_COPIES)
            copies = total - _one(connection, "SELECT count(*) FROM batch")
        connection.execute(_FIND_KNOWN, [first, last])
        known = _one(connection, "SELECT count(*) FROM known")
        if known:
            for statement in _KEEP_THE_LATER:
                connection.execute(statement)
        connection.execute("DROP TABLE known")
        return copies + known

    def _store_loose_events(self) -> None:
        """Store events that came without their span, unless they did so before."""
        total, first, last = self._connection.execute(
            "SELECT count(*), min(ts_ns), max(ts_ns) FROM loose_events"
        ).fetchall()[0]
        if total:
            columns = ", ".join(column.quoted for column in SPAN_EVENTS_TABLE)
            new = f"INSERT INTO span_events ({columns}) SELECT {columns} FROM ({_NEW_LOOSE_EVENTS})"
            self._connection.execute(new, [first, last])

    def _quarantine(self, chunks: Sequence[Chunk], rejected: Sequence[Rejected]) -> int:
        connection = self._connection
        for chunk in chunks:
            if chunk.again:  # what was said of the part that is now read again
                connection.execute(_FORGET, [chunk.again, chunk.begin])
        before = _one(connection, "SELECT count(*) FROM quarantine")
        if rejected:
            connection.executemany(_QUARANTINE, [list(astuple(row)) for row in rejected])
        return _one(connection, "SELECT count(*) FROM quarantine") - before


_BATCH_SUMMARY = """
SELECT count(*), count(DISTINCT hash(trace_id, span_id)), min(start_ns), max(start_ns) FROM batch"""

# Only the keys of copies are sorted, never the wide rows. The hash makes the choice between equals the same every time.
_DROP_COPIES = """
DELETE FROM batch WHERE rowid IN (
  SELECT unnest(copies[2:]) FROM (
    SELECT list(rowid ORDER BY end_ns DESC NULLS LAST, hash(name, status, attributes, events)) AS copies
    FROM batch GROUP BY trace_id, span_id HAVING count(*) > 1
  )
)"""

# The range of starts lets DuckDB skip most of what is stored.
_FIND_KNOWN = """
CREATE TEMP TABLE known AS
SELECT trace_id, span_id, s.rowid AS stored, b.rowid AS copy, coalesce(b.end_ns, 0) > coalesce(s.end_ns, 0) AS later
FROM batch b JOIN spans s USING (trace_id, span_id)
WHERE s.start_ns BETWEEN ? AND ?"""

_KEEP_THE_LATER = (
    "DELETE FROM batch WHERE rowid IN (SELECT copy FROM known WHERE NOT later)",
    "DELETE FROM spans WHERE rowid IN (SELECT stored FROM known WHERE later)",
    """DELETE FROM span_events WHERE signal = 'span'
       AND (trace_id, span_id) IN (SELECT (trace_id, span_id) FROM known WHERE later)""",
)

_NEW_LOOSE_EVENTS = """
SELECT DISTINCT ON (trace_id, span_id, signal, position, name, ts_ns) * FROM loose_events e
WHERE NOT EXISTS (
  SELECT 1 FROM span_events k
  WHERE k.trace_id = e.trace_id AND k.span_id = e.span_id AND k.signal = e.signal
    AND k.position IS NOT DISTINCT FROM e.position AND k.name = e.name AND k.ts_ns = e.ts_ns
    AND k.ts_ns BETWEEN ? AND ?
)"""

_FORGET = 'DELETE FROM quarantine WHERE path = ? AND "offset" >= ?'

# Reading again what a crash cut off must not tell the same twice.
_QUARANTINE = """
INSERT INTO quarantine
SELECT * FROM (SELECT ? AS path, ?::BIGINT AS line, ?::BIGINT AS "offset", ? AS reason, ? AS head) AS new
WHERE NOT EXISTS (
  SELECT 1 FROM quarantine q
  WHERE q.path = new.path AND q.line = new.line AND q."offset" = new."offset"
    AND q.reason = new.reason AND q.head = new.head
)"""


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    count: int = connection.execute(query).fetchall()[0][0]
    return count
