"""The spans of one call: how many, whose children, with which status."""

import pytest
from opentelemetry import context as otel_context, trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from otel_toolerrors.telemetry import Tracing
from otel_toolerrors.telemetry.context import without_telemetry


def must_not_be_built():
    """Stand in for a record that nobody wants."""
    raise AssertionError("built a record that nobody wants")


@pytest.fixture
def run(memory):
    """An open run that records to memory."""
    return memory.tracing().start_run("triage")


def test_a_call_that_works_at_once_is_one_span(memory, run, call_span):
    """Success on the first attempt costs exactly one span, UNSET and without error.type."""
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(None)
    call.end(call_span(), ok=True)
    (span,) = memory.spans
    assert span.name == "execute_tool search"
    assert span.status.status_code is StatusCode.UNSET
    assert "error.type" not in span.attributes
    assert span.attributes["toolerrors.outcome"] == "ok"


def test_a_recovered_call_is_unset_and_its_failed_attempt_is_not(memory, run, call_span, fault):
    """A retried error is recorded on the attempt's span and not on the call's."""
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(fault)
    call.attempt_started("search", 2)
    call.attempt_ended(None)
    call.end(call_span(outcome="recovered", attempts=2), ok=True)
    first, second, whole = memory.spans
    assert [span.name for span in memory.spans] == ["attempt search", "attempt search", "execute_tool search"]
    assert {first.parent.span_id, second.parent.span_id} == {whole.context.span_id}
    assert (first.status.status_code, first.attributes["error.type"]) == (StatusCode.ERROR, "http.503")
    assert (second.status.status_code, second.attributes.get("error.type")) == (StatusCode.UNSET, None)
    assert (whole.status.status_code, whole.attributes.get("error.type")) == (StatusCode.UNSET, None)
    assert "gen_ai.operation.name" not in first.attributes


def test_the_first_failed_attempt_has_its_own_times(memory, run, call_span, fault):
    """The span that a failed first attempt gets afterwards begins when the attempt did."""
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(fault)
    call.end(call_span(), ok=False)
    attempt, whole = memory.spans
    assert whole.start_time <= attempt.start_time <= attempt.end_time <= whole.end_time


def test_a_failed_call_is_an_error_without_a_description(memory, run, call_span, fault):
    """A call that ended badly has status ERROR and error.type, and no text that might quote the error."""
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(fault)
    call.end(call_span(outcome="surfaced", error_type="http.503"), ok=False)
    whole = memory.span("execute_tool search")
    assert whole.status.status_code is StatusCode.ERROR
    assert whole.status.description is None
    assert whole.attributes["error.type"] == "http.503"


def test_the_call_is_current_while_the_tool_runs(memory, run, call_span):
    """What the tool's own libraries record is a child of the call."""
    call = run.start_call("search", service="search-api")
    memory.tracer_provider.get_tracer("httpx").start_span("GET").end()
    call.end(call_span(), ok=True)
    assert memory.span("GET").parent.span_id == memory.span("execute_tool search").context.span_id


def test_a_repeated_attempt_is_current_while_it_is_made(memory, run, call_span, fault):
    """What the tool's own libraries record in a second attempt is a child of that attempt."""
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(fault)
    call.attempt_started("search", 2)
    memory.tracer_provider.get_tracer("httpx").start_span("GET").end()
    call.attempt_ended(None)
    memory.tracer_provider.get_tracer("other").start_span("between").end()
    call.end(call_span(), ok=True)
    second = memory.spans[2]
    assert second.attributes["toolerrors.attempt"] == 2
    assert memory.span("GET").parent.span_id == second.context.span_id
    assert memory.span("between").parent.span_id == memory.span("execute_tool search").context.span_id


def test_a_fallback_has_an_attempt_span_under_its_own_name(memory, run, call_span, fault):
    """A fallback that works at once still shows which tool it was."""
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(fault)
    call.attempt_started("backup", 1)
    call.attempt_ended(None)
    call.end(call_span(outcome="recovered"), ok=True)
    assert memory.span("attempt backup").attributes["gen_ai.tool.name"] == "backup"


def test_an_attempt_cut_short_is_closed_with_the_call(memory, run, call_span, fault):
    """Cancellation in the middle of a second attempt leaves no open span behind."""
    before = otel_context.get_current()
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(fault)
    call.attempt_started("search", 2)
    call.end(call_span(outcome="cancelled"), ok=True)
    assert [span.status.status_code for span in memory.spans] == [StatusCode.ERROR, StatusCode.UNSET, StatusCode.UNSET]
    assert otel_context.get_current() is before


def test_the_context_is_what_it_was(run, call_span):
    """After a call its span is no longer current."""
    before = otel_context.get_current()
    run.start_call("search", service="search-api").end(call_span(), ok=True)
    assert otel_context.get_current() is before


def test_ending_twice_is_ending_once(memory, run, call_span):
    """The second end of a call does nothing."""
    call = run.start_call("search", service="search-api")
    call.end(call_span(), ok=True)
    call.end(call_span(outcome="surfaced"), ok=False)
    (span,) = memory.spans
    assert span.attributes["toolerrors.outcome"] == "ok"


def test_ids_are_those_of_the_span(memory, run, call_span):
    """The ids that a surfaced text may name lead to the call's span."""
    call = run.start_call("search", service="search-api")
    ids = call.trace_id, call.span_id
    call.end(call_span(), ok=True)
    context = memory.span("execute_tool search").context
    assert ids == (f"{context.trace_id:032x}", f"{context.span_id:016x}")
    assert run.trace_id == ids[0]


def test_a_name_that_a_model_made_up_is_no_span_name(memory, run, call_span):
    """An unknown tool's name stands in an attribute, where it can do no harm."""
    run.start_call("rm -rf /", service="rm -rf /", known=False).end(call_span(tool="rm -rf /"), ok=False)
    (span,) = memory.spans
    assert span.name == "execute_tool unknown"
    assert span.attributes["gen_ai.tool.name"] == "rm -rf /"


def test_a_repeated_call_is_linked_to_the_failed_one(memory, run, call_span):
    """The same tool with the same arguments in a later turn points back to the call that failed."""
    run.start_call("search", service="search-api").end(call_span(outcome="surfaced", error_type="http.503"), ok=False)
    run.start_call("search", service="search-api").end(call_span(arguments="other"), ok=True)
    run.start_call("search", service="search-api").end(call_span(), ok=True)
    run.start_call("search", service="search-api").end(call_span(), ok=True)
    failed, other, repeated, later = memory.spans
    assert [len(span.links) for span in (failed, other, repeated, later)] == [0, 0, 1, 0]
    assert repeated.links[0].context.span_id == failed.context.span_id


def test_the_memory_of_failed_calls_is_bounded(memory, run, call_span):
    """A run that fails without end forgets its oldest failures."""
    for number in range(300):
        failed = call_span(arguments=str(number), outcome="surfaced", error_type="http.503")
        run.start_call("search", service="search-api").end(failed, ok=False)
    memory.exporter.clear()
    for arguments in ("0", "299"):
        run.start_call("search", service="search-api").end(call_span(arguments=arguments), ok=True)
    assert [len(span.links) for span in memory.spans] == [0, 1]


def test_without_a_tracer_nothing_is_built():
    """With nothing but the API installed a call has no ids and builds no record."""
    run = Tracing(trace.NoOpTracerProvider()).start_run("triage")
    call = run.start_call("search", service="search-api")
    assert (call.recording, call.trace_id, call.span_id, run.trace_id) == (False, "", "", "")
    call.attempt_started("search", 1)
    call.attempt_ended(None)
    call.end(must_not_be_built, ok=False)
    run.end(must_not_be_built)
    assert otel_context.get_current() == {}


def test_sampled_out_calls_build_no_record_and_keep_their_trace():
    """A call that is not sampled builds nothing, and what it calls is not sampled either."""
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    run = Tracing(provider).start_run("triage")
    call = run.start_call("search", service="search-api")
    assert not call.recording
    assert trace.get_current_span().get_span_context().trace_id == int(run.trace_id, 16)
    call.end(must_not_be_built, ok=True)
    run.end(must_not_be_built)


def test_suppressed_instrumentation_is_respected(memory, run):
    """Where somebody asked for no telemetry there is none."""
    token = otel_context.attach(without_telemetry())
    call = run.start_call("search", service="search-api")
    call.end(must_not_be_built, ok=True)
    memory.tracing().start_run("quiet").end(must_not_be_built)
    otel_context.detach(token)
    assert memory.spans == ()


def test_a_record_that_cannot_be_built_is_counted_and_the_span_still_ends(memory, run):
    """A fault of ours loses the attributes, not the span, and reaches nobody."""
    before = otel_context.get_current()
    run.start_call("search", service="search-api").end(lambda: 1 / 0, ok=True)
    assert [span.name for span in memory.spans] == ["execute_tool search"]
    assert memory.points("toolerrors.telemetry.dropped") == {(("toolerrors.drop.reason", "internal_error"),): 1}
    assert otel_context.get_current() is before


class Broken:
    """A provider, tracer or meter that raises whatever is done with it."""

    def __getattr__(self, name):
        raise RuntimeError(name)


def test_a_broken_provider_reaches_nobody(call_span, run_span):
    """A tracer provider that raises makes a silent call."""
    tracing = Tracing(Broken())
    run = tracing.start_run("triage")
    call = run.start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.end(call_span(), ok=True)
    run.end(run_span())
    assert call.trace_id == ""


class BrokenProcessor(SpanProcessor):
    """A processor of somebody else's that raises when a span ends."""

    def on_end(self, span):
        """Fail."""
        raise RuntimeError(f"cannot export {span.name}")


def test_a_processor_that_raises_reaches_nobody(memory, call_span):
    """An exporter that raises in the calling thread changes nothing for the caller."""
    memory.tracer_provider.add_span_processor(BrokenProcessor())
    before = otel_context.get_current()
    run = memory.tracing().start_run("triage")
    run.start_call("search", service="search-api").end(call_span(), ok=True)
    assert otel_context.get_current() is before
    assert memory.points("toolerrors.telemetry.dropped") == {(("toolerrors.drop.reason", "internal_error"),): 1}
