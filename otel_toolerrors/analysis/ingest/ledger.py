"""What has been read of which file, by content: a file that was renamed, copied or is still growing is recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import BinaryIO

import duckdb

_WINDOW = 1024
"""Bytes hashed at a file's start and before the place where reading stopped."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a file was read: its identity, and the place where reading stopped."""

    path: str
    head_length: int
    head: str
    offset: int
    tail: str
    size: int
    """How far the file was looked at: its size, or ``offset`` if reading was to go on from there at once."""
    framing: str
    """How the file was read: an offset means nothing to another way of reading."""


def mark(path: Path, offset: int, size: int, framing: str) -> Mark:
    """Describe ``path`` as read up to ``offset``, and looked at up to ``size``."""
    length = min(_WINDOW, offset)
    with path.open("rb") as file:
        head, tail = _digest(file, 0, length), _digest(file, offset - length, length)
    return Mark(str(path), length, head, offset, tail, size, framing)


class Ledger:
    """The marks of all files that were read, kept in the table ``sources``."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        rows = connection.execute(
            'SELECT path, head_length, head, "offset", tail, size, framing FROM sources'
        ).fetchall()
        self._marks: dict[tuple[int, str], list[Mark]] = {}
        for row in rows:
            self._keep(Mark(*row))

    def find(self, path: Path) -> Mark | None:
        """Return the farthest mark whose bytes are also at the start of ``path``, under whatever name it was read."""
        with path.open("rb") as file:
            size = file.seek(0, 2)
            candidates = [
                candidate
                for length in {length for length, _ in self._marks}
                if length <= size
                for candidate in self._marks.get((length, _digest(file, 0, length)), ())
                if candidate.offset <= size
                and (candidate.offset or candidate.path == str(path))  # where nothing was read, only the name tells
                and candidate.tail == _digest(file, candidate.offset - length, length)
            ]
        return max(candidates, key=lambda candidate: candidate.offset, default=None)

    def save(self, connection: duckdb.DuckDBPyConnection, marks: Iterable[Mark]) -> None:
        """Write ``marks`` in the caller's transaction; a file's earlier mark is replaced."""
        for new in marks:
            connection.execute("DELETE FROM sources WHERE path = ? AND head = ?", [new.path, new.head])
            connection.execute("INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)", list(astuple(new)))
            self._keep(new)

    def _keep(self, new: Mark) -> None:
        self._marks.setdefault((new.head_length, new.head), []).append(new)


def _digest(file: BinaryIO, offset: int, length: int) -> str:
    file.seek(offset)
    return hashlib.sha256(file.read(length)).hexdigest()[:32]
