"""A trace file's bytes, decompressed as they are read."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

from otel_toolerrors.analysis.sources import TraceSourceError

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

_BLOCK = 1 << 20


class DamagedStreamError(Exception):
    """A compressed file ends early or is corrupt; what came before was read."""


def is_compressed(path: Path) -> bool:
    """Whether the file as a whole is a gzip or zstd stream."""
    return _magic(path).startswith((GZIP, ZSTD))


def _magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)


def open_stream(path: Path) -> BinaryIO:
    """Open a file for reading its decompressed bytes; reading may raise `DamagedStreamError`."""
    magic = _magic(path)
    if magic.startswith(GZIP):
        return cast("BinaryIO", _Careful(gzip.open(path), (EOFError, OSError, zlib.error)))  # noqa: SIM115 - handed over
    if magic.startswith(ZSTD):
        zstandard = import_zstandard(path)
        reader = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True)
        return cast("BinaryIO", _Careful(reader, (zstandard.ZstdError,)))
    return path.open("rb")


def import_zstandard(path: Path) -> Any:
    """Import the decompressor, or say how to get it."""
    try:
        import zstandard  # noqa: PLC0415 - an extra, for compressed files only
    except ImportError as error:
        message = f"{path}: compressed with zstd; to read it, `pip install otel-toolerrors[analysis]` (or zstandard)."
        raise TraceSourceError(message) from error
    return zstandard


def line_at(path: Path, offset: int) -> int:
    """Count the lines before ``offset`` of the decompressed file, and add one."""
    lines = 1
    with open_stream(path) as stream:
        while offset > 0 and (block := stream.read(min(_BLOCK, offset))):
            lines += block.count(b"\n")
            offset -= len(block)
    return lines


class _Careful(io.RawIOBase):
    """A decompressing stream that hands over what it has before it reports damage."""

    def __init__(self, stream: Any, damage: tuple[type[Exception], ...]) -> None:
        self._stream = stream
        self._damage = damage

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes, all for -1."""
        parts: list[bytes] = []
        while size:
            try:
                part = self._stream.read(min(_BLOCK, size) if size > 0 else _BLOCK)
            except self._damage as error:
                if parts:
                    break  # reported by the next read
                raise DamagedStreamError(f"the compressed file is damaged or cut short: {error}") from error
            if not part:
                break
            parts.append(part)
            size -= len(part) if size > 0 else 0
        return b"".join(parts)

    def close(self) -> None:
        self._stream.close()
        super().close()
