"""The exporter's tables in chdb, which is ClickHouse's own engine, and the same traces in DuckDB."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="needs the extra `analysis`")
pytest.importorskip("chdb", reason="needs chdb, ClickHouse's engine as a package: pip install chdb")

from chdb.session import Session

from benchmarks.exporter_tables import LOGS, TRACES, write_rows
from otel_toolerrors import analysis

Both = tuple[analysis.Traces, analysis.Traces]


@pytest.fixture(scope="module")
def stored() -> Iterator[Callable[[Path], str]]:
    """Store a file of OTLP JSON lines as the exporter would, and tell the address."""
    with tempfile.TemporaryDirectory(prefix="chdb-") as folder:

        def store(file: Path) -> str:
            place = Path(folder) / "database"
            place.mkdir(exist_ok=True)
            rows = [Path(folder) / name for name in ("otel_traces", "otel_logs")]
            with file.open(encoding="utf-8") as lines:
                write_rows(lines, *rows)
            session = Session(str(place))
            for table, schema in zip(rows, (TRACES, LOGS), strict=True):
                session.query("CREATE DATABASE IF NOT EXISTS otel")
                session.query(f"DROP TABLE IF EXISTS otel.{table.name}")
                session.query(schema.format(table=f"otel.{table.name}"))
                session.query(f"INSERT INTO otel.{table.name} FROM INFILE '{table}' FORMAT JSONEachRow")
            session.close()
            return f"chdb://{place}?traces=otel.otel_traces&logs=otel.otel_logs"

        yield store


@pytest.fixture
def both(stored: Callable[[Path], str], tmp_path: Path) -> Iterator[Callable[..., Both]]:
    """Open the given bytes on DuckDB and on ClickHouse."""
    opened: list[analysis.Traces] = []

    def open_both(*contents: bytes) -> Both:
        file = tmp_path / "traces.jsonl"
        file.write_bytes(b"".join(contents))
        opened.extend((analysis.open(file), analysis.open(stored(file))))
        return opened[-2], opened[-1]

    yield open_both
    for traces in opened:
        traces.close()
