"""Traces pulled out of a real Jaeger are those that the collector put into it."""

import json
from pathlib import Path

import pytest

from otel_toolerrors import analysis
from otel_toolerrors.cli.app import run
from tests.real.conftest import Stack, recorded

pytestmark = pytest.mark.real

CALLS = "SELECT trace_id, span_id, tool, outcome, attempts, category, code, arguments FROM calls WHERE service_name = ?"
FAULTS = (
    "SELECT trace_id, tool, attempt, category, code, signal, fingerprint, message FROM faults WHERE service_name = ?"
)


@pytest.fixture(scope="module")
def pulled(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command copied out of Jaeger, in windows so small that answers overflow and are halved."""
    folder = tmp_path_factory.mktemp("pulled")
    arguments = ["--since", "1h", "--service", "triage", "--limit", "5"]
    assert 0 == run(["pull", stack.jaeger.url, str(folder), *arguments])
    return folder


@pytest.mark.parametrize("query", [CALLS, FAULTS], ids=["calls", "faults"])
def test_jaeger_gives_back_what_the_collector_recorded(stack: Stack, pulled: Path, query: str):
    """The same calls and faults, from Jaeger's API and from the collector's files; nothing is left out."""
    answers = []
    for source in (stack.collector.traces, pulled):
        with analysis.open(source) as traces:
            assert 0 == traces.ingested.quarantined
            answers.append(sorted(traces.sql(query, params=["triage"]).fetchall(), key=str))
    assert answers[0]
    assert answers[0] == answers[1]


def test_a_second_pull_asks_for_the_open_window_only(stack: Stack, pulled: Path, capsys: pytest.CaptureFixture[str]):
    """What is complete stays as it is; the last window, not over yet, is fetched anew and holds the same spans."""
    before = {path: path.stat().st_mtime_ns for path in pulled.glob("*.jsonl")}
    spans = _ids(pulled)
    assert 0 == run(["pull", stack.jaeger.url, str(pulled), "--since", "1h", "--service", "triage", "--format", "json"])
    windows = json.loads(capsys.readouterr().out)["windows"]
    after = {path: path.stat().st_mtime_ns for path in pulled.glob("*.jsonl")}
    assert windows == len(after)
    assert 1 == len(before.items() - after.items())
    assert spans == _ids(pulled)


def test_a_service_that_jaeger_does_not_know_is_no_error(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Nothing comes, and the command says what to look at."""
    assert 0 == run(["pull", stack.jaeger.url, str(tmp_path / "none"), "--since", "1h", "--service", "nobody"])
    assert "is it the right server" in capsys.readouterr().out


def _ids(folder: Path) -> set[str]:
    return {span["spanId"] for span in recorded(folder)}
