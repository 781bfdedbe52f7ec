"""Recorded material: retry chains of a coding agent's API calls, and OTLP files of other projects.

    python benchmarks/realdata.py DATA_DIR [--out DIR]

DATA_DIR holds ``retry_chains.jsonl.gz`` and ``otlp.tar.gz``. Each chain is played through
the layer in virtual time: the tool answers an attempt with the status that was recorded
for that moment, so that the layer decides for itself when to come back. Each OTLP file is opened by itself:
it must load, be quarantined line by line, or be refused with a sentence; nothing else may happen.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from opentelemetry.trace import NoOpTracerProvider

import otel_toolerrors as te
from otel_toolerrors import analysis
from otel_toolerrors.demo.virtual_spans import VirtualSpans
from otel_toolerrors.demo.virtual_time import Timeline


class RecordedError(Exception):
    """What the API answered, as its client would raise it."""

    def __init__(self, attempt: dict[str, Any]) -> None:
        super().__init__(attempt["message"] or attempt["error_type"] or "connection error")
        self.status_code = attempt["status"]
        self.headers = {
            name: value
            for name, value in (
                ("x-should-retry", attempt["x_should_retry"]),
                ("retry-after", attempt["retry_after"]),
            )
            if value is not None
        }


class Recording:
    """An API that is as it was at the time."""

    def __init__(self, chain: dict[str, Any], clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures = chain["attempts"]
        begin = _seconds(self._failures[0]["ts"])
        self._times = [_seconds(attempt["ts"]) - begin for attempt in self._failures]
        self._ends = _seconds(chain["end_ts"]) - begin if chain["outcome"] == "recovered" else float("inf")
        self._zero = clock()

    def ask(self) -> str:
        """Fail as it did at the last recorded moment before now, and work from when it worked."""
        passed = self._clock() - self._zero
        if passed >= self._ends:
            return "answer"
        place = max(index for index, moment in enumerate(self._times) if moment <= passed)
        attempt = self._failures[place]
        if attempt["status"] is None:
            raise ConnectionResetError(attempt["message"] or "connection error")
        raise RecordedError(attempt)


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def play_chains(chains: list[dict[str, Any]], folder: Path, policy: te.Policy) -> Counter[str]:
    """Play each chain through a layer of its own, so that they share no breaker; count how they ended."""
    ended: Counter[str] = Counter()
    with te.configure("recorded-api", traces_dir=folder, set_global=False) as telemetry:
        for chain in chains:
            timeline = Timeline(round(_seconds(chain["attempts"][0]["ts"]) * 1e9))
            spans = VirtualSpans(telemetry.tracer_provider or NoOpTracerProvider(), timeline)
            clock = partial(getattr, timeline, "now")
            api = Recording(chain, clock)
            layer = te.RecoveryLayer(policy, clock=clock, sleep=timeline.jump, random=Random(7), tracer_provider=spans)
            layer.tool(name="model", effects="read")(api.ask)
            with layer.run(agent=chain["agent"]) as run:
                outcome = run.call("model")
            ended[f"{chain['outcome']} then, {outcome.kind} in {outcome.attempts} attempts now"] += 1
    return ended


def open_files(archive: Path, folder: Path) -> tuple[Counter[str], list[str]]:
    """Open every OTLP file by itself; count what became of them, and list what should not happen."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    ended: Counter[str] = Counter()
    surprises = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        try:
            with analysis.open(path) as traces:
                traces.findings()
                read = traces.ingested
        except analysis.TraceSourceError:
            ended["refused with a sentence"] += 1
        except Exception as error:  # noqa: BLE001 - exactly what this looks for
            surprises.append(f"{path.name}: {type(error).__name__}: {error}")
        else:
            held = "spans" if read.spans else "no spans"
            ended[f"{held}, {'some lines quarantined' if read.quarantined else 'all lines read'}"] += 1
    return ended, surprises


def main() -> int:
    """Play, open, analyse, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--out", type=Path, help="keep what is made here (a new folder)")
    arguments = parser.parse_args()
    folder = arguments.out or Path(tempfile.mkdtemp(prefix="realdata-"))
    with gzip.open(arguments.data / "retry_chains.jsonl.gz", "rt", encoding="utf-8") as lines:
        chains = [chain for chain in map(json.loads, lines) if chain["attempts"]]
    for name, policy in (("default", te.Policy()), ("persistent", te.parse_policy("[retry]\npersistent = true\n"))):
        print(f"{len(chains)} recorded retry chains, played under the {name} policy:")
        _table(play_chains(chains, folder / name, policy))
        with analysis.open(folder / name) as traces:
            decisions = len(traces.sql("FROM retries").fetchall())
            found = ", ".join(f"{one.kind}: {one.title}" for one in traces.findings()) or "no findings"
            print(f"  in the traces: {decisions} retry decisions; {found}")
    ended, surprises = open_files(arguments.data / "otlp.tar.gz", folder / "otlp")
    print(f"{ended.total() + len(surprises)} OTLP files of other projects, each opened by itself:")
    _table(ended)
    for surprise in surprises:
        print(f"  SURPRISE {surprise}")
    with analysis.open(folder / "otlp") as traces:
        counted = traces.sql("SELECT count(*), count(DISTINCT trace_id) FROM spans").fetchall()[0]
        calls = traces.sql("SELECT instrumentation, count(*) FROM calls GROUP BY ALL ORDER BY ALL").fetchall()
        print(
            f"all at once: {counted[0]} spans of {counted[1]} traces, {traces.ingested.duplicates} duplicates,", end=" "
        )
        print(
            f"{traces.ingested.quarantined} quarantined; tool calls: {dict(calls)}; {len(traces.findings())} findings"
        )
    return 1 if surprises else 0


def _table(counts: Counter[str]) -> None:
    for what, number in sorted(counts.items()):
        print(f"  {number:4} {what}")


if __name__ == "__main__":
    sys.exit(main())
