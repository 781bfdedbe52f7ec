"""How the analysis grows with the traces, on DuckDB and on ClickHouse.

    python benchmarks/growth.py [--spans 100000 1000000] [--folder DIR]

Both engines get the same generated spans. DuckDB reads the collector's file and keeps a
database; ClickHouse (chdb, its engine inside a process, over tables as the collector's exporter fills them) takes
its copy of the window. Then both look for every finding. What the exporter costs is no part of it:
the rows are loaded beforehand.

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
from collections.abc import Callable
from pathlib import Path

from exporter_tables import LOGS, TRACES, write_rows
from trace_generator import write

from otel_toolerrors import analysis
from otel_toolerrors.analysis.findings import DETECTORS, find

MEGABYTE = 1_000_000
STEPS = ("open", "findings")


def duck(file: Path) -> analysis.Traces:
    """Read the file into a kept database; the second time it is there already."""
    return analysis.open(file, database=file.with_suffix(".duckdb"))


def click(file: Path) -> analysis.Traces:
    """Take a copy of the exporter's tables, and make the views."""
    return analysis.open(f"chdb://{file.with_suffix('.chdb')}?traces=otel.otel_traces&logs=otel.otel_logs")


ENGINES: dict[str, Callable[[Path], analysis.Traces]] = {"DuckDB": duck, "ClickHouse": click}


DISK: dict[str, Callable[[Path, analysis.Traces], float]] = {
    "DuckDB": lambda file, _: file.with_suffix(".duckdb").stat().st_size / MEGABYTE,
    "ClickHouse": lambda _, traces: traces.sql(_STORED).fetchall()[0][0] / MEGABYTE,
}
"""Megabytes of the kept database, and of the exporter's tables."""

_STORED = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'otel'"


def load(file: Path) -> None:
    """Fill the exporter's tables."""
    from chdb.session import Session  # noqa: PLC0415 - DuckDB's processes do without

    place = file.with_suffix(".chdb")
    place.mkdir()
    rows = [file.with_suffix(f".{table}") for table in ("otel_traces", "otel_logs")]
    with file.open(encoding="utf-8") as lines:
        write_rows(lines, *rows)
    session = Session(str(place))
    session.query("CREATE DATABASE otel")
    for path, schema in zip(rows, (TRACES, LOGS), strict=True):
        table = f"otel.{path.suffix[1:]}"
        session.query(schema.format(table=table))
        session.query(f"INSERT INTO {table} FROM INFILE '{path}' FORMAT JSONEachRow")
        path.unlink()
    session.close()


def measure(engine: str, file: Path) -> dict[str, float]:
    """Open the traces, look for every finding, and say what each step and each kind cost."""
    costs: dict[str, float] = {}
    began = clock()
    with ENGINES[engine](file) as traces:
        began = first = note(costs, "open", began)
        with traces.snapshot() as stored:
            for kind in DETECTORS:
                find(stored, kinds=[kind])
                began = note(costs, kind, began)
        note(costs, "findings", first)
        costs["disk"] = DISK[engine](file, traces)
    costs["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE
    return costs


def clock() -> tuple[float, float]:
    """The clocks on the wall and of the processor."""
    return time.perf_counter(), time.process_time()


def note(costs: dict[str, float], step: str, began: tuple[float, float]) -> tuple[float, float]:
    """Note what passed since, and return what the clocks show now."""
    now = clock()
    costs[f"{step} wall"], costs[f"{step} CPU"] = now[0] - began[0], now[1] - began[1]
    return now


def apart(*arguments: str) -> str:
    """Run this script in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def report(spans: int, folder: Path) -> None:
    """Generate so many spans, take all steps on both engines, and print a table."""
    file = folder / f"{spans}.jsonl"
    if not file.exists():
        write(file, spans)
    if not file.with_suffix(".chdb").exists():
        apart("--load", str(file))
    file.with_suffix(".duckdb").unlink(missing_ok=True)
    costs = {engine: json.loads(apart("--measure", engine, "--file", str(file))) for engine in ENGINES}
    print(f"\n{spans:,} spans, {file.stat().st_size / MEGABYTE:,.0f} MB of OTLP JSON\n")
    print(
        "| engine | open: wall s | CPU s | all findings: wall s | CPU s | CPU / DuckDB | peak MB | disk MB | dearest |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    baseline = sum(costs["DuckDB"][f"{step} CPU"] for step in STEPS)
    for engine, cost in costs.items():
        cells = [f"{cost[f'{step} {kind}']:.1f}" for step in STEPS for kind in ("wall", "CPU")]
        ratio = sum(cost[f"{step} CPU"] for step in STEPS) / baseline
        dearest = max(DETECTORS, key=lambda kind, cost=cost: cost[f"{kind} CPU"])
        print(
            f"| {engine} | {' | '.join(cells)} | {ratio:.2f} | {cost['memory']:,.0f} | {cost['disk']:,.0f} "
            f"| {dearest} {cost[f'{dearest} CPU']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--folder", type=Path, help="keep the generated files here")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        load(options.load)
    elif options.measure:
        print(json.dumps(measure(options.measure, options.file)))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            for count in options.spans:
                report(count, options.folder or Path(temporary))
