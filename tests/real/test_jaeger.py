import pytest

from tests.real.conftest import Stack, attributes_of, recorded

pytestmark = pytest.mark.real

ERROR = 2


def test_every_trace_with_something_to_tell_arrives_whole(stack: Stack):
    """These traces all hold failures, so sampling keeps them, and every span has the parent it was made with."""
    expected = {
        (span["spanId"], span.get("parentSpanId", ""), span["name"]) for span in recorded(stack.collector.traces)
    }
    assert expected == {
        (span["spanId"], span.get("parentSpanId", ""), span["name"]) for span in stack.jaeger.spans("triage")
    }


def test_a_call_hangs_under_its_run_and_an_attempt_under_its_call(stack: Stack):
    """The tree reads run, call, attempt."""
    spans = {span["spanId"]: span for span in stack.jaeger.spans("triage")}
    parents = {
        (span["name"].split()[0], spans[span["parentSpanId"]]["name"].split()[0] if span.get("parentSpanId") else None)
        for span in spans.values()
    }
    assert parents == {("invoke_agent", None), ("execute_tool", "invoke_agent"), ("attempt", "execute_tool")}


def test_a_recovered_call_is_no_error(stack: Stack):
    """Its attempts are errors, the call itself is neither ERROR nor has an error type."""
    spans = stack.jaeger.spans("triage")
    recovered = [span for span in spans if attributes_of(span).get("toolerrors.outcome") == "recovered"]
    assert recovered
    assert {None} == {attributes_of(span).get("error.type") for span in recovered}
    assert ERROR not in {span["status"].get("code", 0) for span in recovered}
    ids = {span["spanId"] for span in recovered}
    attempts = [span for span in spans if span.get("parentSpanId") in ids]
    assert ERROR in {span["status"].get("code", 0) for span in attempts}


def test_a_surfaced_error_is_an_error_with_a_type(stack: Stack):
    """A call that ended badly is ERROR, and says with which code."""
    failed = [
        span
        for span in stack.jaeger.spans("triage")
        if attributes_of(span).get("toolerrors.outcome") in {"surfaced", "stopped"}
    ]
    assert failed
    assert {ERROR} == {span["status"]["code"] for span in failed}
    assert None not in {attributes_of(span).get("error.type") for span in failed}


def test_decisions_can_be_read_as_events(stack: Stack):
    """Jaeger shows what the engine decided, where it decided it."""
    events = {event["name"] for span in stack.jaeger.spans("triage") for event in span.get("events", [])}
    assert {
        "toolerrors.fault.classified",
        "toolerrors.retry.scheduled",
        "toolerrors.retry.refused",
        "toolerrors.breaker.moved",
        "toolerrors.breaker.rejected",
        "toolerrors.fallback.used",
        "toolerrors.error.surfaced",
        "toolerrors.run.stopped",
    } <= events


def test_its_operations_are_named_after_what_was_called(stack: Stack):
    """A tool that a model made up is no operation of its own."""
    operations = {operation["name"] for operation in stack.jaeger.get("operations", service="triage")["operations"]}
    assert "execute_tool search" in operations
    assert "execute_tool unknown" in operations
    assert not any("made_up_by_the_model" in name for name in operations)
