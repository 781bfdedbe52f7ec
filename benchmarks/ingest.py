"""How fast traces are read, against DuckDB's own parse of the same file in the same run.

    python benchmarks/ingest.py [--spans 1000000] [--folder DIR]

The baseline is the least that could be done: DuckDB parses the file into nested
structs and counts them. Reading parses it too, extracts typed columns, splits
off events and leftovers, compares with what is stored, compresses and commits.

Wall time on a shared machine says little; CPU seconds and their ratio do. Each
measurement runs in a process of its own, so that peaks of memory do not mix.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from trace_generator import write

import otel_toolerrors.analysis
from otel_toolerrors.analysis.ingest import otlp

MEGABYTE = 1_000_000


def nested_parse(file: Path, _: Path) -> int:
    """Let DuckDB parse the file into structs of the same shape."""
    with duckdb.connect() as connection:
        requests = otlp.read_requests([str(file)])
        for name, sql_type in {"intValue": "BIGINT", "doubleValue": "DOUBLE", "boolValue": "BOOLEAN"}.items():
            requests = requests.replace(f"{name} VARCHAR", f"{name} {sql_type}")  # as the specification has them
        query = f"SELECT count(*), sum(len(resourceSpans)) FROM {requests}"  # noqa: S608
        return connection.execute(query).fetchall()[0][0]


def read(file: Path, database: Path) -> int:
    """Read the file into a kept database."""
    with otel_toolerrors.analysis.open(file, database=database) as traces:
        return traces.ingested.spans


def query(_: Path, database: Path) -> int:
    """Count by outcome what was read."""
    with otel_toolerrors.analysis.open(database) as traces:
        return len(traces.sql("SELECT tool, outcome, count(*), avg(duration) FROM calls GROUP BY ALL").fetchall())


STEPS = {"nested parse": nested_parse, "read": read, "read again": read, "query": query}


def measure(step: str, file: Path, database: Path) -> dict[str, float]:
    """Run a step in this process and say what it cost."""
    cpu = time.process_time()
    wall = time.perf_counter()
    result = STEPS[step](file, database)
    return {
        "result": result,
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE,
    }


def measure_apart(step: str, file: Path, database: Path) -> dict[str, float]:
    """Run a step in a process of its own."""
    command = [sys.executable, __file__, "--step", step, "--file", str(file), "--database", str(database)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def report(spans: int, folder: Path) -> None:
    """Generate a file of ``spans`` spans, take all steps, and print them as a table."""
    file, database = folder / f"{spans}.jsonl", folder / f"{spans}.duckdb"
    size = file.stat().st_size if file.exists() else write(file, spans)
    database.unlink(missing_ok=True)
    print(f"\n{spans:,} spans, {size / MEGABYTE:,.0f} MB of OTLP JSON\n")
    print("| step | wall s | CPU s | MB/s (wall) | CPU / nested parse | peak MB |")
    print("|---|--:|--:|--:|--:|--:|")
    baseline = 0.0
    for step in STEPS:
        cost = measure_apart(step, file, database)
        baseline = baseline or cost["cpu"]
        speed = size / MEGABYTE / cost["wall"]
        print(
            f"| {step} | {cost['wall']:.2f} | {cost['cpu']:.2f} | {speed:,.0f} "
            f"| {cost['cpu'] / baseline:.2f} | {cost['memory']:,.0f} |",
            flush=True,
        )
    print(f"\nDatabase: {database.stat().st_size / MEGABYTE:,.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--folder", type=Path, help="keep the generated files here")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--database", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(measure(options.step, options.file, options.database)))
        sys.exit()
    with tempfile.TemporaryDirectory() as temporary:
        for count in options.spans:
            report(count, options.folder or Path(temporary))
