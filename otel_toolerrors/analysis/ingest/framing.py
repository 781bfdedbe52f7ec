"""How a file holds its export requests: told by its first bytes, not by its name."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from .protobuf import NotOtlpError, to_json_line
from .streams import ZSTD, DamagedStreamError, import_zstandard, open_stream

_HEAD = 1 << 16
_LENGTH = struct.Struct(">I")
LARGEST_MESSAGE = 256 << 20

BOM = b"\xef\xbb\xbf"
PARQUET_MAGIC = b"PAR1"
DUCKDB_MAGIC = b"DUCK"
_PROTO_FIELD_1 = b"\x0a"


class Framing(Enum):
    """What lies between two export requests of a file."""

    LINES = "JSON lines"
    DOCUMENT = "one JSON document"
    PREFIXED = "length-prefixed messages"
    MESSAGE = "one protobuf message"
    PARQUET = "Parquet"
    UNKNOWN = "neither JSON, OTLP protobuf nor Parquet"


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a binary file: as a line of JSON, or with the reason why it is none."""

    begin: int
    end: int
    line: bytes
    reason: str = ""
    content: bytes = b""


def sniff(path: Path) -> Framing:
    """Tell a file's framing from its start."""
    with open_stream(path) as stream:
        try:
            head = stream.read(_HEAD)
        except DamagedStreamError:
            return Framing.LINES
    text = head.removeprefix(BOM).lstrip(b"\0 \t\r\n")
    first, newline, _ = text.partition(b"\n")
    if head.startswith(PARQUET_MAGIC):
        return Framing.PARQUET
    if _is_prefixed(head):
        return Framing.PREFIXED
    if text[:1] in {b"{", b"["}:
        is_cut = newline and first.rstrip().endswith((b"{", b"[", b","))
        return Framing.DOCUMENT if is_cut else Framing.LINES
    if text and head.startswith(_PROTO_FIELD_1):
        return Framing.MESSAGE
    return Framing.UNKNOWN if b"\0" in text and b'{"resource' not in text else Framing.LINES


def _is_prefixed(head: bytes) -> bool:
    if len(head) <= _LENGTH.size:
        return False
    (length,) = _LENGTH.unpack_from(head)
    message = head[_LENGTH.size :]
    return 0 < length <= LARGEST_MESSAGE and message.startswith((ZSTD, b"{", _PROTO_FIELD_1))


def read_frames(path: Path, stream: BinaryIO, framing: Framing, begin: int) -> Iterator[Frame]:
    """Yield a binary file's messages from offset ``begin``; a torn last one with a reason and ``end`` at its start."""
    if framing is Framing.MESSAGE:
        content = stream.read(LARGEST_MESSAGE)
        yield _decode(path, content, 0, len(content))
        return
    while prefix := stream.read(_LENGTH.size):
        length = _LENGTH.unpack(prefix)[0] if len(prefix) == _LENGTH.size else 0
        if length > LARGEST_MESSAGE:
            reason = f"a message length of {length:,} bytes: the file is damaged here, and what follows cannot be read"
            yield Frame(begin, begin, b"", reason, prefix)
            return
        content = stream.read(length)
        if len(prefix) < _LENGTH.size or len(content) < length:
            reason = "the last message is not finished: torn by a crash, or still being written"
            yield Frame(begin, begin, b"", reason, prefix + content)
            return
        end = begin + len(prefix) + length
        yield _decode(path, content, begin, end)
        begin = end


def _decode(path: Path, content: bytes, begin: int, end: int) -> Frame:
    """Decompress a message and turn protobuf into JSON."""
    if content.startswith(ZSTD):
        zstandard = import_zstandard(path)
        try:
            message = zstandard.ZstdDecompressor().decompress(content, max_output_size=LARGEST_MESSAGE)
        except zstandard.ZstdError as error:
            return Frame(begin, end, b"", f"the message's zstd compression is damaged: {error}", content)
    else:
        message = content
    if message.lstrip()[:1] == b"{":
        return Frame(begin, end, message.replace(b"\n", b" "))
    try:
        return Frame(begin, end, to_json_line(path, message))
    except NotOtlpError as error:
        return Frame(begin, end, b"", str(error), message)
