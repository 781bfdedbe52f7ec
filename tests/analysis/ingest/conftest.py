"""Opens traces, and closes them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="needs the extra `analysis`")

from otel_toolerrors import analysis

Open = Callable[..., analysis.Traces]


@pytest.fixture
def open_traces() -> Iterator[Open]:
    """`analysis.open`, closed at the end of the test."""
    opened: list[analysis.Traces] = []

    def open_and_keep(path: Path, **options: Any) -> analysis.Traces:
        opened.append(analysis.open(path, **options))
        return opened[-1]

    yield open_and_keep
    for traces in opened:
        traces.close()


@pytest.fixture
def load(tmp_path: Path, open_traces: Open) -> Callable[..., analysis.Traces]:
    """Open traces made of the given bytes."""

    def load_bytes(*contents: bytes, name: str = "traces.jsonl") -> analysis.Traces:
        path = tmp_path / name
        path.write_bytes(b"".join(contents))
        return open_traces(path)

    return load_bytes
