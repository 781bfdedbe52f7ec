"""Where traces are: a file, a folder or a glob, turned into files to read."""

from __future__ import annotations

import glob
from pathlib import Path

# What a folder is searched for; other files in it (a README, a .duckdb) are not traces.
SUFFIXES = frozenset({".jsonl", ".json", ".ndjson", ".otlp", ".pb", ".proto", ".binpb", ".parquet"})
COMPRESSED = frozenset({".gz", ".zst"})


class TraceSourceError(Exception):
    """Traces cannot be read: the message names the place and the fix."""


def find_files(path: str | Path) -> list[Path]:
    """List the trace files at ``path``, sorted by name.

    Raises:
        TraceSourceError: nothing is there, or nothing that could hold traces.
    """
    place = Path(path)
    if place.is_file():
        return [place]
    if place.is_dir():
        found = sorted(file for file in place.rglob("*") if file.is_file() and looks_like_traces(file))
        if not found:
            endings = ", ".join(sorted(SUFFIXES))
            message = (
                f"{place}: the folder holds no trace files ({endings}, also with .gz or .zst). "
                "Name the folder that the layer or the collector's file exporter writes to."
            )
            raise TraceSourceError(message)
        return found
    if glob.has_magic(str(path)):
        # Path.glob() takes no absolute pattern.
        matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
        files = [match for match in matches if match.is_file()]
        if not files:
            message = f"{path}: the pattern matches no file. Quote it, and check it with `ls`."
            raise TraceSourceError(message)
        return files
    message = f"{path}: no such file or folder. Check the path, or run the program that writes the traces first."
    raise TraceSourceError(message)


def is_clickhouse(path: str | Path) -> bool:
    """Whether it is an address of ClickHouse, and no path."""
    return str(path).startswith(("clickhouse://", "clickhouse+https://", "chdb://"))


def looks_like_traces(file: Path) -> bool:
    """Whether the name is one that exporters give: a known ending, perhaps compressed, perhaps numbered by rotation."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    while suffixes and (suffixes[-1] in COMPRESSED or suffixes[-1][1:].isdigit()):
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in SUFFIXES and not file.name.startswith(".")
