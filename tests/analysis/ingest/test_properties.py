"""What holds for any input."""

import json
import tempfile
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from otel_toolerrors import analysis
from otel_toolerrors.analysis.ingest import ingest
from otel_toolerrors.analysis.ingest.careful import clean

from .otlp_lines import event, fault, line, request, span
from .tables import tables

# A database an example: few are made, and a failing one is not made smaller.
FEW = settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NO_NEWLINE = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"").replace(b"{", b"("))


def good(number: int) -> bytes:
    """Write a line that is sound."""
    return line(span(number, {"k": number}, start=number, events=[event(fault(attempt=number + 1))]))


@FEW
@given(st.lists(st.one_of(st.just(None), NO_NEWLINE), max_size=12))
def test_nothing_good_is_lost_between_anything_bad(parts):
    """Whatever bytes lie between sound lines, every sound line is read and every bad one is told."""
    content = b"".join(good(n) if part is None else part + b"\n" for n, part in enumerate(parts))
    expected = [f"{n + 1:016x}" for n, part in enumerate(parts) if part is None]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        path.write_bytes(good(99) + content)
        with analysis.open(path) as traces:
            found = [row[0] for row in traces.sql("SELECT span_id FROM spans ORDER BY start_ns").fetchall()]
            rows = {row[0] for row in traces.sql("SELECT line FROM quarantine").fetchall()}
    assert sorted([*expected, f"{100:016x}"]) == sorted(found)
    bad = {n + 2 for n, part in enumerate(parts) if part is not None and part.strip(b"\0 \t\r\v\f")}
    assert {n for n in bad if _is_no_value(parts[n - 2])} <= rows


def _is_no_value(part: bytes) -> bool:
    try:
        json.loads(part)
    except ValueError:
        return True
    return False


@given(st.data())
def test_any_json_in_any_place_is_survived(data):
    """Whatever a field holds, reading with care gives requests that are sound, and says what it left out."""
    content = request(span(1, {"toolerrors.attempt": 1, "x": 2}, events=[event(fault())]), span(2))
    node = content
    while isinstance(node, dict | list) and node:
        key = data.draw(st.sampled_from(sorted(node)) if isinstance(node, dict) else st.integers(0, len(node) - 1))
        if data.draw(st.booleans()) or not isinstance(node[key], dict | list) or not node[key]:
            node[key] = data.draw(JSON)
            break
        node = node[key]
    result = clean(json.dumps(content).encode())
    for one in result.requests:
        for resource in json.loads(one)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                assert all(len(row["traceId"]) == 32 and len(row["spanId"]) == 16 for row in scope["spans"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sound lines, copies, bad lines and a torn end, in two files."""
    place = tmp_path_factory.mktemp("traces")
    (place / "a.jsonl").write_bytes(b"".join(good(n) for n in range(30)) + b"broken\n" + good(5) + good(30)[:50])
    (place / "b.jsonl").write_bytes(b"".join(good(n) for n in range(20, 40)) + b"\n[]\n7\n")
    return place


@FEW
@given(size=st.integers(min_value=200, max_value=60_000), stop=st.integers(min_value=0, max_value=40_000))
def test_how_the_input_is_cut_does_not_matter(folder, size, stop):
    """Whatever a batch holds, and wherever an earlier reading ended, the tables are the same."""
    with tempfile.TemporaryDirectory() as temporary:
        whole, parts = Path(temporary) / "whole.duckdb", Path(temporary) / "parts.duckdb"
        _read(folder, whole, 1 << 20)
        growing = Path(temporary) / "growing"
        growing.mkdir()
        for length in (stop, 1 << 20):
            for file in sorted(folder.iterdir()):
                (growing / file.name).write_bytes(file.read_bytes()[:length])
            _read(growing, parts, size)
        found, expected = tables(parts), tables(whole)
    assert expected["spans"] == found["spans"]
    assert expected["span_events"] == found["span_events"]
    assert [row.replace(str(folder), "") for row in expected["quarantine"]] == [
        row.replace(str(growing), "") for row in found["quarantine"]
    ]


def _read(folder: Path, database: Path, size: int) -> None:
    with tempfile.TemporaryDirectory() as temporary, duckdb.connect(str(database)) as connection:
        ingest(connection, sorted(folder.iterdir()), Path(temporary), batch_bytes=size)
