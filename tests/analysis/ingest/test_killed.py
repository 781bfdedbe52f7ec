"""Killed at any point, and run again: exactly the tables of a run that nobody disturbed."""

import gzip
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .otlp_lines import event, fault, line, lines, span
from .tables import tables

# Reads a folder into a database, in small batches; kills itself before the n-th statement.
READER = """
import os, signal, sys
from pathlib import Path
import duckdb
from otel_toolerrors.analysis.ingest import ingest

folder, database, deadly = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

class Connection:
    statements = 0

    def __init__(self, real):
        self._real = real

    def __getattr__(self, name):
        method = getattr(self._real, name)
        def counted(*arguments):
            Connection.statements += 1
            if Connection.statements == deadly:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*arguments)
        return counted

temporary = Path(database).with_suffix(f".{deadly}")
temporary.mkdir()
with duckdb.connect(database) as real:
    ingest(Connection(real), sorted(folder.iterdir()), temporary, batch_bytes=2_000)
print(Connection.statements)
"""


def read(folder: Path, database: Path, deadly: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the reader."""
    arguments = [sys.executable, "-c", READER, str(folder), str(database), str(deadly)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Files of each kind: plain, long, broken in the middle, torn at the end, compressed, with copies."""
    place = tmp_path_factory.mktemp("traces")
    faulty = [line(span(number, events=[event(fault(attempt=number))])) for number in range(20, 30)]
    (place / "a.jsonl").write_bytes(lines(10))
    (place / "b.jsonl").write_bytes(b"".join(faulty[:5]) + b"broken\n" + b"".join(faulty[5:]) + faulty[0][:50])
    (place / "c.jsonl.gz").write_bytes(gzip.compress(lines(12, 40) + b"broken too\n"))
    (place / "d.jsonl").write_bytes(lines(12, 5))
    return place


@pytest.fixture(scope="module")
def undisturbed(folder, tmp_path_factory):
    """The tables of a reading that nobody disturbed, and how many statements it took."""
    database = tmp_path_factory.mktemp("undisturbed") / "kept.duckdb"
    result = read(folder, database)
    assert 0 == result.returncode, result.stderr
    return tables(database), int(result.stdout)


def _disturb(folder: Path, database: Path, deadly: int) -> None:
    killed = read(folder, database, deadly)
    assert -signal.SIGKILL == killed.returncode, killed.stderr


@pytest.mark.parametrize("share", [0.02, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.99])
def test_killed_and_run_again_gives_the_same_tables(share, folder, undisturbed, tmp_path):
    """Whatever a SIGKILL cuts off is read again, and nothing is there twice."""
    expected, statements = undisturbed
    database = tmp_path / "kept.duckdb"
    _disturb(folder, database, max(1, int(statements * share)))
    result = read(folder, database, deadly=10 * statements)
    assert 0 == result.returncode, result.stderr
    assert expected == tables(database)


@pytest.mark.slow
def test_killed_before_every_statement_in_turn(folder, undisturbed, tmp_path):
    """There is no point at which a SIGKILL harms: each is tried, in a database that survives them all."""
    expected, statements = undisturbed
    for deadly in range(1, statements + 1):
        database = tmp_path / f"{deadly}.duckdb"
        _disturb(folder, database, deadly)
        result = read(folder, database, deadly=10 * statements)
        assert 0 == result.returncode, result.stderr
        assert expected == tables(database), deadly
