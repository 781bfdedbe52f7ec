"""Events that came as log records."""

import json

import pytest

from otel_toolerrors.vocabulary import to_attributes

from .otlp_lines import START, attributes, call_record, event, fault, hex_id, line, span

CALL = span(2, call_record(), name="execute_tool search", trace=1)


def log_line(*records: tuple[object, int], named: bool = True) -> bytes:
    """Write vocabulary events as log records of the call's span, each at nanoseconds after the epoch."""
    rows = [
        {
            "timeUnixNano": str(START + at),
            "eventName": record.NAME if named else "",
            "traceId": hex_id(1, 32),
            "spanId": hex_id(2, 16),
            "attributes": attributes(to_attributes(record)),
        }
        for record, at in records
    ]
    content = {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": rows}]}]}
    return json.dumps(content).encode() + b"\n"


@pytest.mark.parametrize("first", ["spans", "logs"])
def test_they_join_their_span(first, load):
    """A log record with an event's name is that event, in whatever order the two arrive."""
    parts = [line(CALL), log_line((fault(), 1), (fault(attempt=2), 2))]
    traces = load(*(parts if first == "spans" else reversed(parts)))
    rows = traces.sql("SELECT attempt, run_id, call_span_id FROM faults ORDER BY attempt").fetchall()
    assert [(1, "run-1", hex_id(2, 16)), (2, "run-1", hex_id(2, 16))] == rows


def test_an_event_on_both_roads_counts_once(load):
    """With both signals on, each event is told twice, at slightly different times."""
    call = CALL | {"events": [event(fault())]}
    traces = load(line(call), log_line((fault(), 7)))
    assert [(2,)] == traces.sql("SELECT count(*) FROM span_events").fetchall()
    assert [(1,)] == traces.sql("SELECT count(*) FROM faults").fetchall()


def test_events_that_the_span_could_not_hold_are_taken_from_the_logs(load):
    """A span keeps its last 128 events; the log records are all there."""
    call = CALL | {"events": [event(fault(attempt=number)) for number in (2, 3)]}
    traces = load(line(call), log_line(*((fault(attempt=number), number) for number in (1, 2, 3))))
    assert [(1,), (2,), (3,)] == traces.sql("SELECT attempt FROM faults ORDER BY attempt").fetchall()


def test_reading_them_again_does_not_double_them(tmp_path, open_traces):
    """The same records under another name are no new events."""
    database = tmp_path / "kept.duckdb"
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b"\n" * (name == "b.jsonl") + line(CALL) + log_line((fault(), 1)))
        traces = open_traces(tmp_path / name, database=database)
        assert [(1,)] == traces.sql("SELECT count(*) FROM span_events").fetchall()
        traces.close()


def test_other_log_records_are_left_alone(load):
    """A log line without an event's name is no event, and nothing bad."""
    traces = load(log_line((fault(), 1), named=False), b"broken\n", log_line((fault(), 2), named=False))
    assert [(0,)] == traces.sql("SELECT count(*) FROM span_events").fetchall()
    assert 1 == traces.ingested.quarantined
