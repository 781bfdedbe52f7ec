"""Files to chunks: whatever the framing or compression, DuckDB is given files of OTLP JSON lines of a bounded size.

| on disk | who writes it |
|---|---|
| JSON lines | the embedded sink; the collector's file exporter |
| one JSON document, perhaps pretty-printed | a saved API answer, an example |
| length-prefixed messages, JSON or protobuf, perhaps zstd | the file exporter with `compression` or `format: proto` |
| one protobuf message | a saved export request |

Any of them may be compressed as a whole (`.gz`, `.zst`).
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from otel_toolerrors.faults import redact

from .framing import Framing, read_frames, sniff
from .ledger import Mark
from .streams import DamagedStreamError, is_compressed, line_at, open_stream

_BLOCK = 1 << 17
_HEAD = 120
_READ = 2_000
"""Characters that are looked at for secrets, so that one across the end of the head is whole when it is judged."""
_ESCAPE = re.compile(r"""\\+[nrtbf"'/]""")
"""As JSON writes it: its letter would pass for a part of what comes next, and hide a secret there."""
LONGEST_LINE = 256 << 20
"""A longer line is quarantined unread: it would not fit the memory that reading may take."""

_TORN = "the last line is not finished: torn by a crash, or still being written"


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row of the table ``quarantine``: what was not read, where it is, and why."""

    path: str
    line: int
    offset: int
    reason: str
    head: str

    @classmethod
    def at(cls, source: Path, line: int, offset: int, reason: str, content: bytes | bytearray | str) -> Rejected:
        """Describe what was rejected, with the start of its content as printable text, without secrets."""
        start = content[:_READ] if isinstance(content, str) else content[:_READ].decode("utf-8", "replace")
        said = redact(reason)  # it may quote a value
        return cls(str(source), line, offset, said, redact(_ESCAPE.sub(" ", start), 2 * _READ)[:_HEAD])


@dataclass(slots=True)
class Chunk:
    """A part of a source as a file of JSON lines."""

    source: Path
    file: Path | None
    """None where the part holds nothing to read."""
    begin: int = 0
    """Offset of the file's first byte in the (decompressed) source."""
    resume: int | None = None
    """Offset in the source, as it lies on disk, up to which all is read; None where reading cannot go on from here."""
    last: bool = False
    """Whether the source's end was seen; if so, what lies after ``resume`` is an unfinished line."""
    size: int = 0
    """Size of the source, as it lies on disk, when reading it began."""
    framing: Framing = Framing.LINES
    origins: list[tuple[int, int]] | None = None
    """Number and offset in the source of each line, where lines are not adjacent there."""
    rejected: list[Rejected] = field(default_factory=list)
    again: str = ""
    """Set on the first chunk of a source that was read before: the path it had then."""

    @property
    def is_copy(self) -> bool:
        """Whether the file is ours to remove."""
        return self.file is not None and self.file != self.source


def chunks(source: Path, known: Mark | None, folder: Path, size: int) -> Iterator[Chunk]:
    """Cut ``source``, from where it is ``known`` on, into chunks of about ``size`` bytes, written to ``folder``.

    A source that is wholly new, plain and small is its own chunk, and is not copied.
    """
    framing = sniff(source)
    compressed = is_compressed(source)
    end = source.stat().st_size
    resumable = not compressed and framing in {Framing.LINES, Framing.PREFIXED}
    begin = known.offset if known and resumable and known.framing == framing.value else 0
    again = known.path if known else ""
    small = framing is Framing.LINES and not compressed and not begin and end <= size and _ends_with_newline(source)
    if small or framing is Framing.PARQUET:
        yield Chunk(source, source, resume=end, last=True, size=end, framing=framing, again=again)
        return
    with open_stream(source) as stream:
        if begin:
            stream.seek(begin)
        for chunk in _cut(source, stream, framing, begin, folder=folder, size=size):
            chunk.again, again = again, ""
            chunk.size = end
            if not resumable:
                chunk.resume = None
            yield chunk
    if not resumable:  # read as a whole, or again from the start
        yield Chunk(source, None, resume=end, last=True, size=end, framing=framing)


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, io.SEEK_END) == 0:
            return True
        file.seek(-1, io.SEEK_END)
        return file.read(1) == b"\n"


def _cut(source: Path, stream: BinaryIO, framing: Framing, begin: int, *, folder: Path, size: int) -> Iterator[Chunk]:
    match framing:
        case Framing.LINES:
            return _cut_lines(source, stream, begin, folder=folder, size=size)
        case Framing.DOCUMENT:
            return _cut_document(source, stream, folder)
        case Framing.PREFIXED | Framing.MESSAGE:
            return _cut_frames(source, stream, framing, begin, folder=folder, size=size)
        case _:
            rejected = Rejected.at(source, 1, 0, framing.value, stream.read(_HEAD))
            return iter([Chunk(source, None, rejected=[rejected], framing=framing)])


class _Part:
    """A chunk being written."""

    def __init__(self, source: Path, folder: Path, begin: int, framing: Framing = Framing.LINES) -> None:
        self._file = NamedTemporaryFile(dir=folder, suffix=".jsonl", delete=False)  # noqa: SIM115 - closed in close()
        self.size = 0
        self.chunk = Chunk(source, Path(self._file.name), begin, framing=framing)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._file.write(data)
        self.size += len(data)

    def reject(self, line: int, offset: int, reason: str, content: bytes | bytearray) -> None:
        self.chunk.rejected.append(Rejected.at(self.chunk.source, line, offset, reason, content))

    def close(self, resume: int, *, last: bool = False) -> Chunk:
        self._file.close()
        self.chunk.resume = resume
        self.chunk.last = last
        if not self.size and self.chunk.file:
            self.chunk.file.unlink()
            self.chunk.file = None
        return self.chunk


def _cut_lines(source: Path, stream: BinaryIO, begin: int, *, folder: Path, size: int) -> Iterator[Chunk]:
    part = _Part(source, folder, begin)
    at, rest, damage = begin, bytearray(), ""
    buffer = bytearray(_BLOCK)
    block = memoryview(buffer)
    while True:
        try:
            length = cast("io.RawIOBase", stream).readinto(block)
        except DamagedStreamError as error:
            damage = str(error)
            break
        if not length:
            break
        cut = buffer.rfind(b"\n", 0, length) + 1
        if cut:
            part.write(rest)
            part.write(block[:cut])
            at, rest = at + len(rest) + cut, bytearray(block[cut:length])
            if part.size >= size:
                yield part.close(at)
                part = _Part(source, folder, at)
            continue
        rest += block[:length]
        if len(rest) > LONGEST_LINE:
            skipped = len(rest) + _skip_line(stream)
            part.reject(line_at(source, at), at, f"a line of {skipped:,} bytes; {LONGEST_LINE:,} is the limit", rest)
            yield part.close(at + skipped)
            at, rest = at + skipped, bytearray()
            part = _Part(source, folder, at)
    if _is_json(rest):  # a last line that only lacks its end
        part.write(rest + b"\n")
        at += len(rest)
    elif damage or rest.strip(b"\0 \t\r\n"):
        part.reject(line_at(source, at), at, damage or _TORN, rest)
    yield part.close(at, last=True)


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line, and return how many bytes that were."""
    skipped = 0
    while line := stream.readline(_BLOCK):
        skipped += len(line)
        if line.endswith(b"\n"):
            break
    return skipped


def _is_json(text: bytes | bytearray) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _cut_document(source: Path, stream: BinaryIO, folder: Path) -> Iterator[Chunk]:
    part = _Part(source, folder, 0, Framing.DOCUMENT)
    try:
        text = stream.read(LONGEST_LINE + 1)
    except DamagedStreamError as error:
        part.reject(1, 0, str(error), b"")
    else:
        if len(text) > LONGEST_LINE:
            part.reject(1, 0, f"a document of more than {LONGEST_LINE:,} bytes; write one request a line", text)
        else:
            part.write(text)
    yield part.close(0, last=True)


def _cut_frames(
    source: Path, stream: BinaryIO, framing: Framing, begin: int, *, folder: Path, size: int
) -> Iterator[Chunk]:
    number = 0  # frames before `begin` are not counted again: the offset tells them apart
    at = begin
    part = _Part(source, folder, at, framing)
    origins = part.chunk.origins = []
    frames = read_frames(source, stream, framing, begin)
    while True:
        try:
            frame = next(frames, None)
        except DamagedStreamError as error:
            part.reject(number + 1, at, str(error), b"")
            break
        if frame is None:
            break
        number += 1
        at = frame.end
        if frame.reason:
            part.reject(number, frame.begin, frame.reason, frame.content)
        elif frame.line:
            origins.append((number, frame.begin))
            part.write(frame.line + b"\n")
        if part.size >= size:
            yield part.close(at)
            part = _Part(source, folder, at, framing)
            origins = part.chunk.origins = []
    yield part.close(at, last=True)
