"""Tool calls told by other instrumentations, and traces that nobody here made."""

from pathlib import Path

import pytest

from .otlp_lines import attempt_record, call_record, event, line, span

DATA = Path(__file__).parents[1] / "data"
CALL = "SELECT instrumentation, tool, outcome, call_id, arguments IS NOT NULL FROM calls ORDER BY tool DESC"

# Written by hand, with the attributes that each project documents.
BY_HAND = {
    "traceloop": {"traceloop.span.kind": "tool", "traceloop.entity.name": "weather", "traceloop.entity.input": "{}"},
    "langsmith": {
        "langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather",
        "gen_ai.prompt": "{}",
    },
    "genai": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": "{}"},
}  # fmt: skip


@pytest.mark.parametrize("name", ["pydantic_ai_v2", "pydantic_ai_v5"])
def test_pydantic_ai(name, open_traces):
    """Its tool spans are calls; one without `error.type` that failed is a fault with the exception's own words."""
    traces = open_traces(DATA / "foreign" / f"{name}.jsonl")
    assert [
        ("pydantic-ai", "weather", "ok", "pyd_ai_tool_call_id__weather", True),
        ("pydantic-ai", "broken", "surfaced", "pyd_ai_tool_call_id__broken", True),
    ] == traces.sql(CALL).fetchall()
    assert [("broken", "unknown", "TimeoutError", "read timed out after 5 s: a")] == traces.sql(
        "SELECT tool, category, exception_type, message FROM faults"
    ).fetchall()
    assert [(3,)] == traces.sql("SELECT count(*) FROM model_turns").fetchall()


def test_openinference(open_traces):
    """OpenInference names its tool spans by kind."""
    traces = open_traces(DATA / "foreign" / "openinference_langchain.jsonl")
    assert [
        ("openinference", "weather", "ok", None, True),
        ("openinference", "broken", "surfaced", None, True),
    ] == traces.sql(CALL).fetchall()
    assert [("TimeoutError", "read timed out after 5 s: Rome")] == traces.sql(
        "SELECT code, message FROM faults"
    ).fetchall()


@pytest.mark.parametrize("name", BY_HAND)
def test_others(name, load):
    """A call is recognised by its dialect, and its arguments are only ever a digest."""
    traces = load(line(span(1, BY_HAND[name], name="execute_tool weather" if name == "genai" else "weather")))
    assert [(name, "weather", "ok", None, True)] == traces.sql(CALL).fetchall()
    assert [("weather", 1, False)] == traces.sql("SELECT tool, attempt, recorded FROM attempts").fetchall()
    assert [(1, False)] == traces.sql("SELECT count(*), bool_or(recorded) FROM runs").fetchall()


def test_an_enriched_span_is_our_call(load):
    """Where a framework made the span and the layer added to it, it is one call, and ours."""
    values = BY_HAND["langsmith"] | call_record(outcome="recovered", attempts=2)
    traces = load(
        line(
            span(1, values, name="execute_tool search"),
            span(2, attempt_record(category="transient"), parent=1, name="attempt search"),
        )
    )
    assert [("toolerrors", "search", "recovered", None, True)] == traces.sql(CALL).fetchall()


def test_the_same_error_with_other_numbers_has_one_fingerprint(load):
    """Numbers and ids do not tell two errors apart."""
    spans = [
        span(n, BY_HAND["genai"], name="execute_tool weather", start=n, status={"code": 2, "message": message})
        for n, message in enumerate(
            ["timeout after 5 s (req 1a2b3c4d5e)", "timeout after 7 s (req 99ff99ff99)", "no such city"]
        )
    ]
    traces = load(line(*spans))
    assert [(2, 3)] == traces.sql("SELECT count(DISTINCT fingerprint), count(*) FROM faults").fetchall()


def test_other_spans_are_kept(load):
    """A span that tells of no tool call is in the table, with all its attributes."""
    traces = load(
        line(span(1, {"db.system": "sqlite", "rows": 5, "tags": ["a", "b"]}, events=[event("note", {"x": 1})]))
    )
    assert [("sqlite", "5", '{"values":[{"stringValue":"a"},{"stringValue":"b"}]}')] == traces.sql(
        "SELECT attributes['db.system'], attributes['rows'], attributes['tags'] FROM spans"
    ).fetchall()
    assert [("note", "1")] == traces.sql("SELECT name, attributes['x'] FROM span_events").fetchall()
    assert [(0,)] == traces.sql("SELECT count(*) FROM calls").fetchall()


@pytest.mark.parametrize(("name", "spans"), [("opentelemetry_proto_trace", 1), ("jaeger_example_trace", 5)])
def test_public_examples_load(name, spans, open_traces):
    """Pretty-printed examples of others load whole."""
    done = open_traces(DATA / "public" / f"{name}.json").ingested
    assert (spans, 0) == (done.spans, done.quarantined)
