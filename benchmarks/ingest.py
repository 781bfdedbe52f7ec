"""How fast traces are read, against DuckDB's own parse of the same file in the same run.

    python benchmarks/ingest.py [--spans 1000000] [--rounds 7] [--folder DIR]

The baseline is the least that could be done: DuckDB parses the file into nested
structs and counts them. Reading parses it too, extracts typed columns, splits
off events and leftovers, compares with what is stored, compresses and commits.

Wall time on a shared machine says little; CPU seconds and their ratio say more,
and a single one of them still little: what is printed is the median of rounds,
in which all steps follow one another. Each step runs in a process of its own,
so that peaks of memory do not mix.
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
from statistics import median

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


def report(spans: int, folder: Path, rounds: int) -> None:
    """Generate a file of ``spans`` spans, take all steps in each of ``rounds``, and print medians as a table."""
    file, database = folder / f"{spans}.jsonl", folder / f"{spans}.duckdb"
    size = (file.stat().st_size if file.exists() else write(file, spans)) / MEGABYTE
    costs: dict[str, list[dict[str, float]]] = {step: [] for step in STEPS}
    for number in range(rounds):
        database.unlink(missing_ok=True)
        for step in STEPS:
            costs[step].append(measure_apart(step, file, database))
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    bare = [cost["cpu"] for cost in costs["nested parse"]]
    print(
        f"\n{spans:,} spans, {size:,.0f} MB of OTLP JSON: the median of {rounds} rounds, and the least and the most\n"
    )
    print("| step | wall s | CPU s | MB/s (wall) | CPU / nested parse | peak MB |")
    print("|---|--:|--:|--:|--:|--:|")
    for step, taken in costs.items():
        wall, cpu, memory = ([cost[name] for cost in taken] for name in ("wall", "cpu", "memory"))
        speed, ratio = [size / seconds for seconds in wall], [a / b for a, b in zip(cpu, bare, strict=True)]
        cells = shown(wall, 2), shown(cpu, 2), shown(speed, 0), shown(ratio, 2), shown(memory, 0)
        print(f"| {step} | {' | '.join(cells)} |")
    print(f"\nDatabase: {database.stat().st_size / MEGABYTE:,.0f} MB")


def shown(values: list[float], digits: int) -> str:
    """Write the median, and if there are several values their range."""
    middle, least, most = (f"{value:,.{digits}f}" for value in (median(values), min(values), max(values)))
    return middle if len(values) == 1 else f"{middle} ({least}–{most})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
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
            report(count, options.folder or Path(temporary), options.rounds)
