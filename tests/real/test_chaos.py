"""Whatever happens to the telemetry, the agent's results, its pace and its exit code stay as they are."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from otel_toolerrors import analysis
from tests.real.conftest import calls_of, recorded
from tests.real.parts import Agent, Collector, eventually, free_ports, missing

pytestmark = pytest.mark.real

RUNS = 10
PAUSE = "0.5"
A_CALL = 1.0
"""Seconds that no call may reach. The slowest takes a few hundredths; a call that waits for an export, ten."""
AN_EXIT = 15.0
"""Seconds that the end of the process may take: five, and what it takes to count the loss, on a busy machine."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the agent answers with no telemetry at all."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return calls_of(Agent("--runs", str(RUNS), to=None, cwd=folder, OTEL_SDK_DISABLED="true").said())


@pytest.fixture(scope="module")
def spans_made(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many spans the agent makes."""
    folder = tmp_path_factory.mktemp("spans")
    Agent("--runs", str(RUNS), "--traces-dir", "traces", to=None, cwd=folder).said()
    return len(recorded(folder / "traces"))


def _same(said: list[dict[str, Any]], undisturbed: list[dict[str, Any]]) -> None:
    """The same answers in the same order, none of them late, and an end within bounds."""
    calls = calls_of(said)
    assert _without_time(undisturbed) == _without_time(calls)
    assert max(call["seconds"] for call in calls) < A_CALL
    assert said[-1]["shutdown_seconds"] < AN_EXIT


def _without_time(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in call.items() if key != "seconds"} for call in calls]


def _dropped(said: list[dict[str, Any]]) -> dict[str, int]:
    return said[-1]["dropped"]


def test_nobody_listens(undisturbed: list[dict[str, Any]], spans_made: int, tmp_path: Path):
    """A refused connection costs the spans, each of which is counted, and nothing else."""
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    said = Agent("--runs", str(RUNS), to=nobody, cwd=tmp_path).said()
    _same(said, undisturbed)
    assert {"export_failed": spans_made} == _dropped(said)


def test_the_collector_is_killed_and_comes_back(
    start: Callable[[Collector], Collector], undisturbed: list[dict[str, Any]], spans_made: int, tmp_path: Path
):
    """What was recorded before stays, and runs after the restart are recorded; analysis reads past a torn line."""
    collector = start(Collector(tmp_path))
    agent = Agent("--runs", str(RUNS), "--pause", PAUSE, to=collector.grpc, cwd=tmp_path, OTEL_BSP_SCHEDULE_DELAY="100")
    agent.after_run(0)
    eventually(lambda: _runs_in(collector), "the first run is recorded")
    collector.kill()
    before = _runs_in(collector)
    agent.after_run(1)
    collector.start()
    said = agent.said()
    _same(said, undisturbed)
    eventually(lambda: _runs_in(collector) - before, "runs after the restart are recorded")
    assert before <= _runs_in(collector)
    with analysis.open(collector.traces) as traces:
        kept = traces.sql("select span_id from spans").fetchall()
    assert len(kept) + sum(_dropped(said).values()) <= spans_made


def _runs_in(collector: Collector) -> set[str]:
    if not any(collector.traces.glob("*.jsonl")):
        return set()
    with analysis.open(collector.traces) as traces:
        return {run for (run,) in traces.sql("select span_id from runs where span_id is not null").fetchall()}


def test_the_collector_stalls(
    start: Callable[[Collector], Collector], undisturbed: list[dict[str, Any]], spans_made: int, tmp_path: Path
):
    """While it does not answer, spans wait; when it answers again they all arrive."""
    collector = start(Collector(tmp_path))
    agent = Agent("--runs", str(RUNS), "--pause", PAUSE, to=collector.grpc, cwd=tmp_path, OTEL_BSP_SCHEDULE_DELAY="100")
    agent.after_run(0)
    collector.pause()
    agent.after_run(3)
    collector.resume()
    said = agent.said()
    _same(said, undisturbed)
    assert {} == _dropped(said)
    eventually(
        lambda: len({span["spanId"] for span in recorded(collector.traces)}) == spans_made, "every span has arrived"
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one MiB."""
    mounted = tmp_path / "disk"
    mounted.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mounted], capture_output=True, text=True, check=False
    )
    if done.returncode:
        missing(f"cannot mount a tmpfs (needs root): {done.stderr.strip()}")
    yield mounted
    subprocess.run(["umount", mounted], check=True)


def _fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            return filler


def test_the_disk_is_full(undisturbed: list[dict[str, Any]], spans_made: int, small_disk: Path, tmp_path: Path):
    """The embedded sink writes no torn line, and counts every span that it could not write."""
    (small_disk / "traces").mkdir()
    _fill(small_disk)
    said = Agent("--runs", str(RUNS), "--traces-dir", str(small_disk / "traces"), to=None, cwd=tmp_path).said()
    _same(said, undisturbed)
    assert _dropped(said)
    assert spans_made == len(recorded(small_disk / "traces")) + sum(_dropped(said).values())


def test_the_disk_gets_room_again(undisturbed: list[dict[str, Any]], spans_made: int, small_disk: Path, tmp_path: Path):
    """What waited while the disk was full is written when it no longer is; nothing is lost, and nobody waited."""
    (small_disk / "traces").mkdir()
    filler = _fill(small_disk)
    agent = Agent(
        "--runs", str(RUNS), "--pause", PAUSE, "--traces-dir", str(small_disk / "traces"), to=None, cwd=tmp_path
    )
    agent.after_run(1)
    filler.unlink()
    said = agent.said()
    _same(said, undisturbed)
    assert {} == _dropped(said)
    assert spans_made == len(recorded(small_disk / "traces"))


def test_the_disk_of_the_collector_is_full(
    undisturbed: list[dict[str, Any]],
    spans_made: int,
    small_disk: Path,
    start: Callable[[Collector], Collector],
    tmp_path: Path,
):
    """It refuses what it cannot record: the agent counts its loss, and the collector shows what the alert watches."""
    collector = start(Collector(tmp_path, TOOLERRORS_DATA=str(small_disk)))
    _fill(small_disk)
    said = Agent("--runs", str(RUNS), to=collector.grpc, cwd=tmp_path).said()
    _same(said, undisturbed)
    assert {"export_failed": spans_made} == _dropped(said)
    own = httpx.get(f"http://{collector.own}/metrics").text
    refused = re.search(r"^otelcol_receiver_refused_spans_total{.*} (\d+)", own, re.MULTILINE)
    assert refused
    assert int(refused[1]) >= spans_made
