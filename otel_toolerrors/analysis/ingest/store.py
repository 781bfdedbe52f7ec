"""One batch of chunks into the tables, in one transaction: rows, what was refused, and how far was read."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import duckdb

from otel_toolerrors.analysis.schema import SPAN_EVENTS_TABLE, SPANS_TABLE, TABLES, create_table

from . import otlp
from .careful import clean
from .chunks import Chunk, Rejected
from .framing import Framing
from .ledger import Ledger, mark
from .parquet import NotOursError, select_parquet
from .streams import line_at

_FEW_BYTES = 1 << 18
"""A part no larger is read with care as a whole; a larger one is first cut down to where the trouble is."""
_CUTS = 8

REFUSED = (duckdb.InvalidInputException, duckdb.ConversionException)
"""What the strict parse raises on content; anything else that DuckDB raises is about the machine."""


@dataclass(slots=True)
class Counts:
    """What a batch brought."""

    spans: int = 0
    duplicates: int = 0
    quarantined: int = 0


class Store:
    """The tables of a database, and the way into them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        for name, columns in TABLES.items():
            connection.execute(create_table(name, columns))
        # What a batch holds before it is compared with what is stored.
        empty = folder / "empty.jsonl"
        empty.touch()
        nothing = otlp.read_requests([str(empty)])
        connection.execute(f"CREATE OR REPLACE TEMP TABLE batch AS {otlp.select_spans(nothing)}")
        connection.execute("CREATE OR REPLACE TEMP TABLE loose_events AS FROM span_events LIMIT 0")
        self.ledger = Ledger(connection)

    def commit(self, chunks: Sequence[Chunk]) -> Counts:
        """Read ``chunks`` and store what is new in them; all of it, or after a crash none."""
        rejected = [row for chunk in chunks for row in chunk.rejected]
        self._connection.execute("TRUNCATE batch; TRUNCATE loose_events")
        self._read([chunk for chunk in chunks if chunk.file], rejected)
        self._connection.execute("BEGIN")
        try:
            counts = self._store(chunks, rejected)
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        return counts

    # Reading: files to the temporary tables.

    def _read(self, chunks: Sequence[Chunk], rejected: list[Rejected]) -> None:
        plain = [chunk for chunk in chunks if chunk.framing not in {Framing.DOCUMENT, Framing.PARQUET}]
        if plain and not self._try([_file(chunk) for chunk in plain]):
            for chunk in plain:
                self._narrow(chunk, _file(chunk), 0, 0, rejected)
        for chunk in chunks:
            if chunk.framing is Framing.DOCUMENT:
                self._clean(chunk, _file(chunk), 0, 0, rejected)
            elif chunk.framing is Framing.PARQUET:
                self._read_parquet(chunk, rejected)

    def _try(self, files: Sequence[Path]) -> bool:
        """Run the fast parse; False, and nothing read, if any of the content is refused."""
        requests = otlp.read_requests([str(file) for file in files])
        logs = [str(file) for file in files if _mentions_logs(file)]
        try:
            self._connection.execute("BEGIN")
            self._connection.execute(f"INSERT INTO batch BY NAME {otlp.select_spans(requests)}")
            if logs:
                events = otlp.select_log_events(otlp.read_requests(logs))
                self._connection.execute(f"INSERT INTO loose_events BY NAME {events}")
            self._connection.execute("COMMIT")
        except REFUSED:
            self._connection.execute("ROLLBACK")
            return False
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        return True

    def _narrow(self, chunk: Chunk, file: Path, line: int, offset: int, rejected: list[Rejected]) -> None:
        """Read a file that may hold something refused: fast where that works, with care around the trouble.

        ``line`` and ``offset`` tell where in the chunk the file's content begins.
        """
        if self._try([file]):
            return
        size = file.stat().st_size
        if size <= _FEW_BYTES:
            self._clean(chunk, file, line, offset, rejected)
            return
        part = self._folder / f"{file.name}.part"
        with file.open("rb") as source:
            while (block := source.read(max(size // _CUTS, 1)) + source.readline()):
                part.write_bytes(block)
                if len(block) == size:  # a single line
                    self._clean(chunk, part, line, offset, rejected)
                else:
                    self._narrow(chunk, part, line, offset, rejected)
                line += block.count(b"\n")
                offset += len(block)
        part.unlink()

    def _clean(self, chunk: Chunk, file: Path, line: int, offset: int, rejected: list[Rejected]) -> None:
        """Read line by line, and reject what is unsound."""
        cleaned = self._folder / f"{file.name}.clean"
        problems: list[Rejected] = []
        with file.open("rb") as source, cleaned.open("w", encoding="utf-8", newline="\n") as target:
            for content in [source.read()] if chunk.framing is Framing.DOCUMENT else source:
                if content.strip(b"\0 \t\r\n"):
                    result = clean(content)
                    target.writelines(request + "\n" for request in result.requests)
                    problems += [_locate(chunk, content, line, offset, problem) for problem in result.problems]
                line += 1
                offset += len(content)
        if problems and chunk.origins is None and chunk.framing is Framing.LINES and chunk.begin:
            before = line_at(chunk.source, chunk.begin) - 1
            problems = [replace(problem, line=problem.line + before) for problem in problems]
        rejected += problems
        if not self._try([cleaned]):
            reason = "the content was read with care, and is refused all the same; please report this"
            rejected.append(Rejected.at(chunk.source, line, chunk.begin, reason, b""))
        cleaned.unlink()

    def _read_parquet(self, chunk: Chunk, rejected: list[Rejected]) -> None:
        try:
            table, query = select_parquet(self._connection, chunk.source)
            self._connection.execute(f"INSERT INTO {table} BY NAME {query}")
        except (NotOursError, *REFUSED) as error:
            rejected.append(Rejected.at(chunk.source, 1, 0, str(error), b"PAR1"))

    # Storing: temporary tables to the tables that stay, inside the transaction.

    def _store(self, chunks: Sequence[Chunk], rejected: list[Rejected]) -> Counts:
        connection = self._connection
        total = _one(connection, "SELECT count(*) FROM batch")
        duplicates = self._drop_duplicates() if total else 0
        columns = ", ".join(column.quoted for column in SPANS_TABLE)
        connection.execute(f"INSERT INTO spans ({columns}) SELECT {columns} FROM batch")
        connection.execute(f"INSERT INTO span_events BY NAME {otlp.select_span_events('batch')}")
        self._store_loose_events()
        for chunk in chunks:
            if chunk.again:  # what was said of the part that is now read again
                connection.execute('DELETE FROM quarantine WHERE path = ? AND "offset" >= ?', [chunk.again, chunk.begin])
        if rejected:
            connection.executemany(_QUARANTINE, [astuple(row) for row in rejected])
        marks = [mark(chunk.source, chunk.resume) for chunk in chunks if chunk.resume is not None]
        self.ledger.save(connection, marks)
        return Counts(total - duplicates, duplicates, len(rejected))

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
        columns = ", ".join(column.quoted for column in SPAN_EVENTS_TABLE)
        self._connection.execute(f"""
            INSERT INTO span_events ({columns})
            SELECT DISTINCT ON (trace_id, span_id, signal, position, name, ts_ns) {columns} FROM loose_events e
            WHERE NOT EXISTS (
              SELECT 1 FROM span_events k
              WHERE k.trace_id = e.trace_id AND k.span_id = e.span_id AND k.signal = e.signal
                AND k.position IS NOT DISTINCT FROM e.position AND k.name = e.name AND k.ts_ns = e.ts_ns
            )""")


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
SELECT trace_id, span_id, s.rowid AS stored, b.rowid AS copy,
  coalesce(b.end_ns, 0) > coalesce(s.end_ns, 0) AS later
FROM batch b JOIN spans s USING (trace_id, span_id)
WHERE s.start_ns BETWEEN ? AND ?"""

_KEEP_THE_LATER = (
    "DELETE FROM batch WHERE rowid IN (SELECT copy FROM known WHERE NOT later)",
    "DELETE FROM spans WHERE rowid IN (SELECT stored FROM known WHERE later)",
    """DELETE FROM span_events WHERE signal = 'span'
       AND (trace_id, span_id) IN (SELECT (trace_id, span_id) FROM known WHERE later)""",
)

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


def _file(chunk: Chunk) -> Path:
    if chunk.file is None:
        raise ValueError(chunk)
    return chunk.file


def _mentions_logs(file: Path) -> bool:
    """Whether a second look at the file, for log records, is worth its while."""
    with file.open("rb") as source:
        if not source.seek(0, 2):
            return False
        with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b'"resourceLogs"') >= 0


def _locate(chunk: Chunk, content: bytes, line: int, offset: int, problem: tuple[int, str, str]) -> Rejected:
    """Tell where in the source a problem is that was found in one line (or document) of a chunk."""
    at, reason, head = problem
    if chunk.origins is not None:
        number, origin = chunk.origins[line]
        return Rejected.at(chunk.source, number, origin, reason, head)
    before = content.decode("utf-8", "replace")[:at]
    inside = len(before.encode("utf-8", "replace"))
    return Rejected.at(chunk.source, line + 1 + before.count("\n"), chunk.begin + offset + inside, reason, head)
