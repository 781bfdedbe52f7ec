"""Files of JSON lines: one series for each process, rotated, private, and never half a line."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from secrets import token_hex
from time import gmtime, strftime, time_ns
from typing import Final, Literal

Fsync = Literal["never", "rotate", "write"]
"""When to force data to the disk. ``never`` still survives the end of the process, however it ends."""

_NANO: Final = 1_000_000_000
_DAY: Final = 86_400.0
_NEW_FILE: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """When a file is finished and the next begun, and what becomes of it."""

    max_bytes: int = 64 * 2**20
    """A line that would make the file longer goes into the next one."""
    max_age: float = _DAY
    """Seconds after which the next line goes into a new file."""
    compress: bool = False
    """Whether finished files are compressed with gzip, in the background."""
    keep: float | None = None
    """Seconds after which finished files of any process in the folder are deleted; None keeps them."""
    fsync: Fsync = "never"


def wall_clock() -> float:
    """Seconds since the epoch."""
    return time_ns() / _NANO


class TraceFiles:
    """Appends lines to ``{prefix}-{start}-{process}-{random}-{number}.jsonl`` in ``folder``.

    Several processes may share the folder: the names differ. A line is written with
    one system call and taken back if it does not fit, so that a full disk leaves no
    torn line. Not thread-safe: it has one writer.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        rotation: Rotation | None = None,
        *,
        clock: Callable[[], float] = wall_clock,
    ) -> None:
        self.folder = folder
        self._prefix = prefix
        self._rotation = rotation or Rotation()
        self._clock = clock
        self._series = ""
        self._number = 0
        self._path: Path | None = None
        self._file = -1
        self._size = 0
        self._opened = 0.0

    @property
    def path(self) -> Path | None:
        """The file now written to, if there is one."""
        return self._path

    def append(self, line: bytes) -> None:
        """Write ``line``, which ends with a newline. Raises OSError, and then has written nothing."""
        self._rotate_if_due(len(line))
        if self._file < 0:
            self._open()
        try:
            _write_all(self._file, line)
            if self._rotation.fsync == "write":
                os.fsync(self._file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)

    def close(self) -> None:
        """Finish the current file. The next line begins another."""
        if self._file < 0 or self._path is None:
            return
        if self._rotation.fsync != "never":
            with suppress(OSError):
                os.fsync(self._file)
        finished = self._path
        self.forget()
        if self._rotation.compress:
            with suppress(OSError):
                _compress(finished)

    def forget(self) -> None:
        """Let go of the current file without finishing it: after a fork it belongs to the parent."""
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
        self._file, self._path, self._series = -1, None, ""

    def _rotate_if_due(self, room: int) -> None:
        if self._file < 0:
            return
        if not self._is_there():
            self.forget()
        elif (self._size and self._size + room > self._rotation.max_bytes) or (
            self._clock() - self._opened >= self._rotation.max_age
        ):
            series = self._series
            self.close()
            self._series = series

    def _is_there(self) -> bool:
        """Whether the path still leads to the open file; somebody may have deleted the folder."""
        try:
            return self._path is not None and os.path.samestat(self._path.stat(), os.fstat(self._file))
        except OSError:
            return False

    def _open(self) -> None:
        self._prepare_folder()
        if not self._series:
            start = strftime("%Y%m%dT%H%M%SZ", gmtime(self._clock()))
            self._series = f"{self._prefix}-{start}-{os.getpid()}-{token_hex(4)}"
            self._number = 0
        path = self.folder / f"{self._series}-{self._number:04}.jsonl"
        self._file = os.open(path, _NEW_FILE, 0o600)
        self._path, self._size, self._opened = path, 0, self._clock()
        self._number += 1
        self._delete_old()

    def _prepare_folder(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Error texts do not belong into version control.
            (self.folder / ".gitignore").write_text("*\n")

    def _delete_old(self) -> None:
        if self._rotation.keep is None:
            return
        oldest = self._clock() - self._rotation.keep
        for path in self.folder.glob(f"{self._prefix}-*.jsonl*"):
            with suppress(OSError):  # another process may be faster
                if path != self._path and path.stat().st_mtime < oldest:
                    path.unlink()


def _write_all(file: int, line: bytes) -> None:
    if os.write(file, line) < len(line):
        raise OSError(ENOSPC, os.strerror(ENOSPC))


def _compress(path: Path) -> None:
    """Replace ``path`` by ``path.gz``; a reader sees the one or the other, never half of it."""
    unfinished = path.with_name(path.name + ".gz.part")
    with path.open("rb") as plain, gzip.open(unfinished, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    unfinished.chmod(0o600)
    unfinished.rename(path.with_name(path.name + ".gz"))
    path.unlink()
