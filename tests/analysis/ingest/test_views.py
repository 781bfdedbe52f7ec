"""The views: the vocabulary as tables."""

import pytest

from otel_toolerrors.analysis import schema
from otel_toolerrors.analysis.views import views
from otel_toolerrors.vocabulary import (
    EVENTS,
    SPANS,
    BreakerMoved,
    ErrorSurfaced,
    RetryRefused,
    RetryScheduled,
    RunStopped,
    attributes_of,
)

from .otlp_lines import attempt_record, call_record, event, fault, line, run_record, span


@pytest.mark.parametrize("record", [*SPANS, *EVENTS], ids=lambda record: record.__name__)
def test_every_field_of_the_vocabulary_has_a_column(record, load):
    """A field that is added to the vocabulary is there to be asked for, in its table and in its view."""
    table = schema.SPAN_ATTRIBUTES if record in SPANS else schema.EVENT_ATTRIBUTES
    types = {column.name: column.type for column in table}
    found = attributes_of(record)
    assert {a.key: schema.SQL_TYPES[a.type] for a in found.values()}.items() <= types.items()
    view = load(line(span())).sql(f"FROM {record.VIEW}")
    assert set(found) <= set(view.columns)


def test_no_key_has_two_types():
    """One key is one column: whoever uses it again must mean the same type."""
    for records in (SPANS, EVENTS):
        seen: dict[str, str] = {}
        for record in records:
            for attr in attributes_of(record).values():
                assert attr.type == seen.setdefault(attr.key, attr.type), attr.key


def test_every_view_answers_on_an_empty_database(load):
    """No view needs data to be asked."""
    traces = load(b"")
    assert [0] * len(dict(views())) == [len(traces.sql(f"FROM {name}").fetchall()) for name, _ in views()]


@pytest.fixture
def traces(load):
    """A run with a call that works, one that recovers and one that is surfaced; a second run whose span is missing."""
    retry = RetryScheduled(tool="search", attempt=1, delay=0.5, basis="backoff", code="timeout.read", fingerprint="f1")
    refused = RetryRefused(tool="write", attempt=1, reason="effects", code="timeout.read", fingerprint="f1")
    surfaced = ErrorSurfaced(
        tool="write", category="transient", code="timeout.read", fingerprint="f1", target="t", failures=1, tokens=10,
        injected_tokens=5, arm="bare",
    )  # fmt: skip
    moved = BreakerMoved(
        breaker="service", name="write-api", from_state="closed", to_state="open", reason="failure_rate", failures=5,
        calls=10,
    )  # fmt: skip
    stopped = RunStopped(tool="write", reason="permission", category="permission", code="http.403")
    failed = attempt_record(category="transient", error_type="timeout.read")
    recovered = call_record(index=1, outcome="recovered", attempts=2)
    ended_badly = call_record(run_id="run-2", tool="write", outcome="surfaced", category="transient")
    told = [event(record) for record in (refused, surfaced, moved, stopped)]
    delayed = [event(fault(), at=2.2), event(retry, at=2.3)]
    return load(
        line(
            span(1, run_record(), name="invoke_agent triage", duration=10),
            span(2, call_record(), parent=1, name="execute_tool search", start=1),
            span(3, recovered, parent=1, name="execute_tool search", start=2, events=delayed),
            span(4, failed, parent=3, name="attempt search", start=2),
            span(5, attempt_record(attempt=2), parent=3, name="attempt search", start=3),
            span(6, ended_badly, trace=2, parent=9, name="execute_tool write", start=5, events=told),
            span(7, failed | {"gen_ai.tool.name": "write"}, trace=2, parent=6, name="attempt write", start=5),
        )
    )


def test_calls_are_seconds_and_fields(traces):
    """A call's row has the record's fields by name, and its times in seconds."""
    rows = traces.sql(
        'SELECT tool, outcome, attempts, start, "end", duration, service, service_name FROM calls ORDER BY start'
    )
    assert [
        ("search", "ok", 1, 1790000001.0, 1790000002.0, 1.0, "search-api", "triage"),
        ("search", "recovered", 2, 1790000002.0, 1790000003.0, 1.0, "search-api", "triage"),
        ("write", "surfaced", 1, 1790000005.0, 1790000006.0, 1.0, "search-api", "triage"),
    ] == rows.fetchall()


def test_attempts_are_complete(traces):
    """A call that worked at once left no attempt span, and has an attempt all the same."""
    rows = traces.sql(
        "SELECT tool, attempt, category, run_id, recorded FROM attempts ORDER BY start, attempt"
    ).fetchall()
    assert [
        ("search", 1, None, "run-1", False),
        ("search", 1, "transient", "run-1", True),
        ("search", 2, None, "run-1", True),
        ("write", 1, "transient", "run-2", True),
    ] == rows


def test_a_run_without_its_span_is_told_by_its_calls(traces):
    """A killed process never ends its run: the calls say when it was, and the events how it stopped."""
    rows = traces.sql("SELECT run_id, recorded, agent, arm, stop_reason, duration FROM runs ORDER BY run_id").fetchall()
    assert [
        ("run-1", True, "triage", "context", None, 10.0),
        ("run-2", False, "triage", "bare", "permission", 1.0),
    ] == rows


def test_events_know_their_call_and_run(traces):
    """An event's row says which call and run it belongs to, and when it was."""
    assert [("run-1", f"{4:016x}", 1790000002.2, "read timed out", "search-api")] == traces.sql(
        "SELECT run_id, call_span_id, ts, message, service FROM faults"
    ).fetchall()
    assert [("run-2", "write-api", "open")] == traces.sql("SELECT run_id, name, to_state FROM breaker_moves").fetchall()


def test_scheduled_and_refused_retries_share_a_view(traces):
    """Which of the two a row is, the event's name says."""
    assert [
        ("toolerrors.retry.refused", None, "effects"),
        ("toolerrors.retry.scheduled", "backoff", None),
    ] == traces.sql("SELECT event, basis, reason FROM retries ORDER BY event").fetchall()


def test_a_half_read_result_locks_nothing(traces):
    """Every question has a cursor of its own."""
    calls = traces.sql("FROM calls")
    traces.sql("CREATE TABLE mine AS FROM calls")
    assert 3 == len(calls.fetchall()) == len(traces.sql("FROM mine").fetchall())
    assert [(2,)] == traces.sql("SELECT count(*) FROM calls WHERE tool = ?", params=["search"]).fetchall()
