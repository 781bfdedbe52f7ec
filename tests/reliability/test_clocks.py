"""Clocks that jump, backwards or far ahead: nothing hangs, nothing is waited for twice, no line is lost."""

import itertools

import pytest

import otel_toolerrors as te
from otel_toolerrors import analysis
from otel_toolerrors.telemetry import Rotation
from otel_toolerrors.telemetry.trace_files import TraceFiles
from tests.analysis.ingest.otlp_lines import call_record, line, span

DAY = 86_400.0
JUMPS = {
    "back": [100.0, 40.0],
    "far back": [1e6, 0.0],
    "ahead": [0.0, 1e9],
    "to and fro": [0.0, 1e6, 5.0, 1e9, 4.0],
    "below zero": [0.0, -1e9],
    "not at all": [7.0],
    "nowhere": [0.0, float("inf")],
}


@pytest.mark.parametrize("name", JUMPS)
def test_a_layer_whose_clock_jumps_answers_every_call(name):
    """Retries, breaker, budget, pacing and cache under a jumping clock: each call ends, and no wait is negative."""
    moments, waits = itertools.cycle(JUMPS[name]), []
    policy = te.parse_policy(
        "[run]\nstop_on = []\ntool_failures = 1000\ncorrections = 1000\ncorrections_in_a_row = 1000\n"
        "[breaker]\nminimum_calls = 2\ncooldown = 10"
    )
    layer = te.RecoveryLayer(policy, clock=lambda: next(moments), sleep=waits.append)
    turns = itertools.count()

    class SlowDownError(Exception):
        status_code = 429
        headers = {"retry-after": "1"}  # noqa: RUF012 - as a client's exception has it

    @layer.tool(effects="read", service="api", cache_ttl=30.0)
    def flaky():
        match next(turns) % 4:
            case 0:
                raise ConnectionResetError
            case 1:
                raise SlowDownError
        return "good"

    with layer.run() as run:
        outcomes = [run.call("flaky") for _ in range(200)]
    assert all(outcome.text for outcome in outcomes)
    assert all(wait >= 0 for wait in waits)
    assert max(waits, default=0) <= 21_600, "no wait is longer than the policy's cap"


@pytest.mark.parametrize("name", [name for name in JUMPS if name != "nowhere"])
def test_trace_files_under_a_jumping_clock_hold_every_line(tmp_path, name):
    """The wall clock names, rotates and deletes files: wherever it jumps, each line is in one of them."""
    moments = itertools.cycle([1_790_000_000.0 + moment for moment in JUMPS[name]])
    files = TraceFiles(tmp_path, "traces", Rotation(max_age=DAY, keep=None), clock=lambda: next(moments))
    for number in range(50):
        files.append(line(span(number)))
    files.close()
    with analysis.open(tmp_path) as traces:
        assert [(50,)] == traces.sql("SELECT count(*) FROM spans").fetchall()


def test_spans_that_end_before_they_begin_are_read(tmp_path):
    """A clock set back in mid-call makes a span of negative length: it is read, and analysed with the others."""
    rows = [span(n, call_record(), start=n, duration=-60.0, name="execute_tool search") for n in range(5)]
    (tmp_path / "traces.jsonl").write_bytes(line(*rows))
    with analysis.open(tmp_path) as traces:
        assert [(5,)] == traces.sql("SELECT count(*) FROM calls").fetchall()
        assert [] == traces.findings()
