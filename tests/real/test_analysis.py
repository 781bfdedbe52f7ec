import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from otel_toolerrors import analysis
from tests.real.conftest import Stack, recorded
from tests.real.parts import Agent, Collector, eventually

pytestmark = pytest.mark.real

CALLS = "select tool, outcome, attempts, category, code, effects, side_effects, service, error_type from calls"
EVENTS = "select name, count(*) from span_events group by all"
FAULTS = "select tool, attempt, category, code, signal, fingerprint from faults"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of traces of the same work: one that the collector wrote, one that the embedded sink wrote."""
    folder = tmp_path_factory.mktemp("both")
    sink = folder / "sink"
    Agent("--runs", "6", "--traces-dir", str(sink), to=None, cwd=folder).said()
    collector = Collector(folder)
    collector.start()
    try:
        Agent("--runs", "6", to=collector.grpc, cwd=folder).said()
        eventually(lambda: len(recorded(collector.traces)) == len(recorded(sink)), "the collector has every span")
    finally:
        collector.stop()
    return collector.traces, sink


@pytest.mark.parametrize("query", [CALLS, EVENTS, FAULTS], ids=["calls", "events", "faults"])
def test_the_collector_and_the_sink_tell_the_same(both: tuple[Path, Path], query: str):
    """Analysis finds the same rows in what either of them wrote, and puts nothing into quarantine."""
    answers = []
    for folder in both:
        with analysis.open(folder) as traces:
            answers.append(Counter(traces.sql(query).fetchall()))
            assert traces.sql("select count(*) from quarantine").fetchall() == [(0,)]
    assert answers[0]
    assert answers[0] == answers[1]


def test_both_lead_to_the_same_findings(both: tuple[Path, Path]):
    """What is flagged, about which tool, and how often, does not depend on the way that the traces took."""
    answers = []
    for folder in both:
        with analysis.open(folder) as traces:
            answers.append(Counter((one.kind, one.tool, one.fingerprint) for one in traces.findings()))
    assert answers[0]
    assert answers[0] == answers[1]


def test_both_write_the_same_shape(both: tuple[Path, Path]):
    """Keys and kinds of values of a span are the same in both files."""
    shapes = [_shape(recorded(folder, "execute_tool")) for folder in both]
    assert shapes[0] == shapes[1]


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(_shape(one), sort_keys=True) for one in value})
    return type(value).__name__


def test_what_the_collector_recorded_has_the_outcomes_that_callers_saw(stack: Stack):
    """Counts of failed calls agree between the traces and the answers."""
    with analysis.open(stack.collector.traces) as traces:
        surfaced = traces.sql("select count(*) from calls where outcome = 'surfaced'").fetchall()
    assert [(sum(call["outcome"] == "surfaced" for call in stack.outcomes),)] == surfaced
