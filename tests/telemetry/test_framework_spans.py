"""Where a framework makes spans of its own, ours add to them."""

import pytest
from opentelemetry.trace import Status, StatusCode


@pytest.fixture
def framework(memory):
    """The tracer of an agent framework."""
    return memory.tracer_provider.get_tracer("pydantic-ai")


@pytest.fixture
def run(memory):
    """An open run."""
    return memory.tracing().start_run("triage")


@pytest.mark.parametrize(
    "opened",
    [("execute_tool search", {}), ("running tool", {"gen_ai.operation.name": "execute_tool"})],
    ids=["by its name", "by its operation"],
)
def test_an_execute_tool_span_is_enriched(memory, framework, run, call_span, opened):
    """The framework's span for the call gets our attributes and events, and no second span is made."""
    name, attributes = opened
    with framework.start_as_current_span(name, attributes=attributes) as theirs:
        call = run.start_call("search", service="search-api")
        assert call.span_id == f"{theirs.get_span_context().span_id:016x}"
        call.end(call_span(), ok=True)
        assert theirs.is_recording()
    (span,) = memory.spans
    assert span.attributes["toolerrors.outcome"] == "ok"
    assert span.status.status_code is StatusCode.UNSET


def test_the_frameworks_own_words_stand(memory, framework, run, call_span):
    """What the framework said about the call is not overwritten."""
    with framework.start_as_current_span("execute_tool search", attributes={"gen_ai.tool.call.id": "theirs"}):
        run.start_call("search", service="search-api").end(call_span(call_id="ours"), ok=True)
    assert memory.spans[0].attributes["gen_ai.tool.call.id"] == "theirs"


def test_a_failure_that_the_framework_does_not_see_is_an_error(memory, framework, run, call_span):
    """An error that goes back as a value makes the framework's span an error all the same."""
    with framework.start_as_current_span("execute_tool search"):
        run.start_call("search", service="search-api").end(
            call_span(outcome="surfaced", error_type="http.404"), ok=False
        )
    (span,) = memory.spans
    assert (span.status.status_code, span.attributes["error.type"]) == (StatusCode.ERROR, "http.404")


def test_attempts_are_children_of_the_frameworks_span(memory, framework, run, call_span, fault):
    """Failed attempts show below the framework's span."""
    with framework.start_as_current_span("execute_tool search"):
        call = run.start_call("search", service="search-api")
        call.attempt_started("search", 1)
        call.attempt_ended(fault)
        call.end(call_span(), ok=False)
    attempt, theirs = memory.spans
    assert attempt.parent.span_id == theirs.context.span_id


def test_a_span_is_enriched_once(memory, framework, run, call_span):
    """A tool that calls another tool through the layer makes a span for that one."""
    with framework.start_as_current_span("execute_tool outer"):
        outer = run.start_call("outer", service="a")
        run.start_call("inner", service="b").end(call_span(tool="inner"), ok=True)
        outer.end(call_span(tool="outer"), ok=True)
    assert [span.name for span in memory.spans] == ["execute_tool inner", "execute_tool outer"]
    assert memory.spans[1].attributes["gen_ai.tool.name"] == "outer"


def test_our_own_span_is_not_taken_for_a_frameworks(memory, run, call_span):
    """A tool that calls a tool through the layer gets a span below its own."""
    outer = run.start_call("outer", service="a")
    run.start_call("inner", service="b").end(call_span(tool="inner"), ok=True)
    outer.end(call_span(tool="outer"), ok=True)
    inner, whole = memory.spans
    assert inner.parent.span_id == whole.context.span_id


def test_a_framework_span_that_ended_early_is_left_alone(framework, run, call_span, caplog):
    """A framework may end its span first; then there is nothing to add to."""
    with framework.start_as_current_span("execute_tool search", end_on_exit=False) as theirs:
        call = run.start_call("search", service="search-api")
        theirs.end()
        call.end(call_span(), ok=True)
    assert caplog.records == []


def test_an_ok_that_the_framework_set_stands(memory, framework, run, call_span):
    """OpenTelemetry lets nobody take back a status OK, and we do not set one."""
    with framework.start_as_current_span("execute_tool search") as theirs:
        call = run.start_call("search", service="search-api")
        theirs.set_status(Status(StatusCode.OK))
        call.end(call_span(error_type="http.404"), ok=False)
    assert memory.spans[0].status.status_code is StatusCode.OK


def test_an_invoke_agent_span_is_enriched_not_doubled(memory, framework, call_span, run_span):
    """Inside a framework's agent span the run adds its own attributes to that, and only its own."""
    with framework.start_as_current_span("invoke_agent theirs", attributes={"gen_ai.agent.name": "theirs"}) as theirs:
        run = memory.tracing().start_run("ours")
        run.activate()
        run.start_call("search", service="search-api").end(call_span(), ok=True)
        run.end(run_span(agent="ours", stop_reason="aborted", error_type="aborted"))
        assert theirs.is_recording()
    call, agent = memory.spans
    assert call.parent.span_id == agent.context.span_id
    assert agent.attributes["gen_ai.agent.name"] == "theirs"
    assert agent.attributes["toolerrors.run.id"] == "4bf92f3577b34da6"
    assert "error.type" not in agent.attributes
    assert agent.status.status_code is StatusCode.UNSET


def test_an_agent_called_as_a_tool_has_a_run_span_of_its_own(memory, run, call_span, run_span):
    """A run inside one of our own calls is a run, not an addition to the outer one."""
    call = run.start_call("delegate", service="a")
    memory.tracing().start_run("inner").end(run_span(agent="inner"))
    call.end(call_span(tool="delegate"), ok=True)
    inner, outer = memory.spans
    assert (inner.name, inner.parent.span_id) == ("invoke_agent inner", outer.context.span_id)
