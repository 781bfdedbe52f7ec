"""Chunks into two temporary tables: ``batch``, spans with their events nested, and ``loose_events``.

Fast where the strict parse takes the content; what it refuses is narrowed down
to the lines in question, and those are read with care.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb

from . import otlp
from .careful import clean
from .chunks import Chunk, Rejected
from .framing import Framing
from .parquet import NotOursError, select_parquet
from .streams import line_at

REFUSED = (duckdb.InvalidInputException, duckdb.ConversionException)
"""What DuckDB raises about content; anything else that it raises is about the machine."""

_FEW_BYTES = 1 << 18
"""A part no larger is read with care as a whole; a larger one is first cut into parts."""
_CUTS = 8
_BLANK = b"\0 \t\r\n"


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All of it, or none."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


class Staging:
    """The temporary tables, and the ways into them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._check_events = False
        empty = folder / "empty.jsonl"
        empty.touch()
        nothing = otlp.read_requests([str(empty)])
        connection.execute(f"CREATE OR REPLACE TEMP TABLE batch AS {otlp.select_spans(nothing)}")
        connection.execute("CREATE OR REPLACE TEMP TABLE loose_events AS FROM span_events LIMIT 0")

    def read(self, chunks: Sequence[Chunk], *, check_events: bool) -> list[Rejected]:
        """Fill the tables anew, and return what could not be read.

        With ``check_events`` the nested events are tried as well: it costs, and is needed once one was refused.
        """
        self._check_events = check_events
        self.empty()
        rejected: list[Rejected] = []
        lines = [chunk for chunk in chunks if chunk.framing not in {Framing.DOCUMENT, Framing.PARQUET}]
        if not self._try([chunk.file for chunk in lines if chunk.file]):
            for chunk in lines:
                rejected += self._narrow(chunk, chunk.file)
        for chunk in chunks:
            if chunk.framing is Framing.DOCUMENT:
                rejected += self._clean(chunk, chunk.file)
            elif chunk.framing is Framing.PARQUET:
                rejected += self._read_parquet(chunk)
        return rejected

    def _try(self, files: Sequence[Path]) -> bool:
        """Run the fast parse; False, and nothing read, if any of the content is refused."""
        if not files:
            return True
        requests = otlp.read_requests([str(file) for file in files])
        for logs in (False, True):  # few files hold log records, and a look for them is another parse
            try:
                with transaction(self._connection):
                    self._insert(requests, logs=logs)
            except REFUSED as error:
                if logs or otlp.HOLDS_LOGS not in str(error):
                    return False
            else:
                break
        return True

    def _insert(self, requests: str, *, logs: bool) -> None:
        connection = self._connection
        before = connection.execute("SELECT coalesce(max(rowid), -1) FROM batch").fetchall()[0][0]
        connection.execute(f"INSERT INTO batch BY NAME {otlp.select_spans(requests, logs=logs)}")
        if self._check_events:
            events = otlp.select_span_events(f"(FROM batch WHERE rowid > {before})")
            connection.execute(f"CREATE OR REPLACE TEMP TABLE checked AS {events}")
        if logs:
            connection.execute(f"INSERT INTO loose_events BY NAME {otlp.select_log_events(requests)}")

    def _narrow(self, chunk: Chunk, file: Path | None, line: int = 0, offset: int = 0) -> list[Rejected]:
        """Read a file that may hold something refused: fast where that works, with care around the trouble.

        ``line`` and ``offset`` tell where in the chunk the file's content begins.
        """
        if file is None or self._try([file]):
            return []
        size = file.stat().st_size
        if size <= _FEW_BYTES:
            return self._clean(chunk, file, line, offset)
        rejected: list[Rejected] = []
        part = self._folder / f"{file.name}.part"
        with file.open("rb") as source:
            while block := source.read(size // _CUTS) + source.readline():
                part.write_bytes(block)
                # A block of the whole size is a single line, which cannot be cut.
                read = self._clean if len(block) == size else self._narrow
                rejected += read(chunk, part, line, offset)
                line += block.count(b"\n")
                offset += len(block)
        part.unlink()
        return rejected

    def _clean(self, chunk: Chunk, file: Path | None, line: int = 0, offset: int = 0) -> list[Rejected]:
        """Read line by line, or a document as a whole, and leave out what is unsound."""
        if file is None:
            return []
        rejected: list[Rejected] = []
        cleaned = self._folder / f"{file.name}.clean"
        with file.open("rb") as source, cleaned.open("w", encoding="utf-8", newline="\n") as target:
            for content in [source.read()] if chunk.framing is Framing.DOCUMENT else source:
                if content.strip(_BLANK):
                    result = clean(content)
                    target.writelines(request + "\n" for request in result.requests)
                    rejected += [_locate(chunk, content, line, offset, problem) for problem in result.problems]
                line += 1
                offset += len(content)
        if rejected and chunk.begin and chunk.framing is Framing.LINES:
            before = line_at(chunk.source, chunk.begin) - 1
            rejected = [replace(row, line=row.line + before) for row in rejected]
        if not self._try([cleaned]):
            reason = "refused although it was read with care; please report this, with the file"
            rejected.append(Rejected.at(chunk.source, line, chunk.begin + offset, reason, b""))
        cleaned.unlink()
        return rejected

    def empty(self) -> None:
        """Forget what the tables hold."""
        self._connection.execute("TRUNCATE batch; TRUNCATE loose_events")

    def drop(self) -> None:
        """Remove the tables."""
        self._connection.execute("DROP TABLE batch; DROP TABLE loose_events")

    def read_parquet(self, file: str) -> None:
        """Fill the tables anew from a Parquet file of ours, wherever DuckDB finds it."""
        self.empty()
        self._insert_parquet(file)

    def _insert_parquet(self, file: str | Path) -> None:
        table, query = select_parquet(self._connection, file)
        self._connection.execute(f"INSERT INTO {table} BY NAME {query}")

    def _read_parquet(self, chunk: Chunk) -> list[Rejected]:
        try:
            self._insert_parquet(chunk.source)
        except (NotOursError, *REFUSED) as error:
            return [Rejected.at(chunk.source, 1, 0, str(error), b"PAR1")]
        return []


def _locate(chunk: Chunk, content: bytes, line: int, offset: int, problem: tuple[int, str, str]) -> Rejected:
    """Tell where in the source a problem is that was found in one line (or document) of a chunk."""
    at, reason, head = problem
    if chunk.origins is not None:
        number, origin = chunk.origins[line]
        return Rejected.at(chunk.source, number, origin, reason, head)
    before = content.decode("utf-8", "replace")[:at]
    inside = len(before.encode("utf-8", "replace"))
    return Rejected.at(chunk.source, line + 1 + before.count("\n"), chunk.begin + offset + inside, reason, head)
