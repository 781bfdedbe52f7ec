"""A trace file's bytes, decompressed as they are read."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from otel_toolerrors.analysis.sources import TraceSourceError

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

_BLOCK = 1 << 20
_RAW_BLOCK = 1 << 14
"""Compressed bytes taken at a time: where they are damaged, what they hold is lost."""
_GZIP_WINDOW = 31
"""What zlib calls a gzip stream."""


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
        return cast("BinaryIO", _Inflating(path, lambda: zlib.decompressobj(_GZIP_WINDOW), zlib.error))
    if magic.startswith(ZSTD):
        zstandard = import_zstandard(path)
        return cast(
            "BinaryIO", _Inflating(path, lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)
        )
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


class _Inflating(io.RawIOBase):
    """A compressed file, of one or several streams, that hands over all it has before it reports damage."""

    def __init__(self, path: Path, decompressor: Callable[[], Any], damage: type[Exception]) -> None:
        self._file = path.open("rb")
        self._new = decompressor
        self._damage = damage
        self._decompressor = decompressor()
        self._raw = b""
        self._ready = bytearray()
        self._reason = ""

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """Fill ``target``; damage is reported when nothing else is left."""
        size = len(target)
        while len(self._ready) < size and self._inflate():
            pass
        if self._reason and not self._ready:
            raise DamagedStreamError(f"the compressed file is damaged or cut short: {self._reason}")
        found = self._ready[:size]
        del self._ready[:size]
        target[: len(found)] = found
        return len(found)

    def _inflate(self) -> bool:
        """Decompress a little more; False at the end and after damage."""
        self._raw = self._raw or self._file.read(_RAW_BLOCK)
        if self._reason or not self._raw:
            if not self._decompressor.eof and not self._reason:
                self._reason = "its end is missing"
            return False
        if self._decompressor.eof:
            self._decompressor = self._new()
        try:
            self._ready += self._decompressor.decompress(self._raw)
        except self._damage as error:
            self._reason = str(error)
            return False
        self._raw = self._decompressor.unused_data
        return True

    def close(self) -> None:
        self._file.close()
        super().close()
