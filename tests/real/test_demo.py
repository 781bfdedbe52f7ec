"""The demo's traces, sent through the collector: analysis and Jaeger tell of them what the demo's own files tell."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from otel_toolerrors import analysis
from tests.real.conftest import attributes_of, recorded
from tests.real.parts import ROOT, Collector, Jaeger, eventually

pytestmark = pytest.mark.real

TASKS = "40"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the traces that the demo wrote."""
    kept = tmp_path_factory.mktemp("demo") / "kept"
    done = subprocess.run(
        [sys.executable, "-m", "otel_toolerrors.cli", "demo", "--tasks", TASKS, "--keep", kept],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return kept / "before"


@pytest.fixture(scope="module")
def sent(own: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Jaeger]]:
    """The folder of the collector and the Jaeger that got them."""
    folder = tmp_path_factory.mktemp("sent")
    jaeger = Jaeger(folder)
    collector = Collector(folder, JAEGER_ENDPOINT=jaeger.otlp)
    try:
        jaeger.start()
        collector.start()
        for path in sorted(own.glob("*.jsonl")):
            for line in path.read_bytes().splitlines():
                # A line of the embedded sink is an export request, as it stands.
                httpx.post(
                    f"http://{collector.http}/v1/traces", content=line, headers={"Content-Type": "application/json"}
                ).raise_for_status()
        eventually(lambda: len(recorded(collector.traces)) == len(recorded(own)), "the collector has every span")
        yield collector.traces, jaeger
    finally:
        collector.kill()
        jaeger.kill()


def test_the_collector_keeps_the_demo_as_it_is(own: Path, sent: tuple[Path, Jaeger]):
    """Calls, faults and events are the same rows."""
    for query in ("from calls", "from attempts", "from faults", "select name, count(*) from span_events group by all"):
        answers = []
        for folder in (own, sent[0]):
            with analysis.open(folder) as traces:
                answers.append(Counter(map(str, traces.sql(query).fetchall())))
        assert answers[0]
        assert answers[0] == answers[1]


def test_the_collector_leads_to_the_same_findings(own: Path, sent: tuple[Path, Jaeger]):
    """Every finding, with its numbers and its proposed change."""
    findings = []
    for folder in (own, sent[0]):
        with analysis.open(folder) as traces:
            findings.append(traces.findings())
    assert findings[0]
    assert findings[0] == findings[1]


def test_jaeger_shows_the_demo(own: Path, sent: tuple[Path, Jaeger]):
    """Of each trace that was kept, every span: its name, its parent, its events and whether it is an error."""
    made: dict[str, set[tuple[str, str, str, tuple[str, ...], int]]] = {}
    for span in recorded(own):
        made.setdefault(span["traceId"], set()).add(_seen(span))
    telling = {
        span["traceId"] for span in recorded(own, "execute_tool") if attributes_of(span)["toolerrors.outcome"] != "ok"
    }
    assert telling
    shown: dict[str, set[tuple[str, str, str, tuple[str, ...], int]]] = {}

    def all_there() -> bool:
        shown.clear()
        for trace in telling:
            answer = sent[1].get(f"traces/{trace}")
            resources = [] if answer is None else answer["result"]["resourceSpans"]
            spans = [span for one in resources for scope in one["scopeSpans"] for span in scope["spans"]]
            shown[trace] = {_seen(span) for span in spans}
        return all(len(shown[trace]) == len(made[trace]) for trace in telling)

    eventually(all_there, "Jaeger shows every trace with something to tell")
    assert {trace: made[trace] for trace in telling} == shown


def _seen(span: dict) -> tuple[str, str, str, tuple[str, ...], int]:
    events = tuple(sorted(event["name"] for event in span.get("events", [])))
    return span["spanId"], span.get("parentSpanId", ""), span["name"], events, span.get("status", {}).get("code", 0)
