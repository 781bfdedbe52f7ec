"""Whose child a span is, whichever thread or task makes it."""

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest
from opentelemetry import context as otel_context
from opentelemetry.trace import StatusCode, get_current_span


@pytest.fixture
def run(memory):
    """An open run whose span is current."""
    run = memory.tracing().start_run("triage")
    run.activate()
    return run


def parents(memory):
    """Map each span's name to the name of its parent."""
    names = {span.context.span_id: span.name for span in memory.spans}
    return {span.name: names.get(span.parent.span_id) if span.parent else None for span in memory.spans}


def test_a_run_opens_a_span_that_its_calls_are_children_of(memory, run, call_span, run_span):
    """One invoke_agent span for the run, with the calls below it and nothing above."""
    run.start_call("search", service="search-api").end(call_span(), ok=True)
    run.end(run_span())
    assert parents(memory) == {"execute_tool search": "invoke_agent triage", "invoke_agent triage": None}
    assert memory.span("invoke_agent triage").attributes["toolerrors.tools.offered"] == "search"


def test_a_stopped_run_is_an_error(memory, run, run_span):
    """A run that a fault stopped has status ERROR, another has not."""
    run.end(run_span(stop_reason="permission", error_type="http.403"))
    memory.tracing().start_run("fine").end(run_span())
    assert memory.span("invoke_agent triage").status.status_code is StatusCode.ERROR
    assert memory.span("invoke_agent fine").status.status_code is StatusCode.UNSET


def test_a_run_without_an_agent_has_the_bare_name(memory, run_span):
    """The agent's name is part of the span's name only if there is one."""
    memory.tracing().start_run(None).end(run_span(agent=None))
    assert [span.name for span in memory.spans] == ["invoke_agent"]


def test_a_run_is_a_child_of_what_is_current(memory, run_span):
    """A run inside a request belongs to the request."""
    with memory.tracer_provider.get_tracer("web").start_as_current_span("POST /ask"):
        memory.tracing().start_run("triage").end(run_span())
    assert parents(memory)["invoke_agent triage"] == "POST /ask"


def test_spans_inside_the_run_are_its_children_and_spans_after_it_are_not(memory, run, run_span):
    """An activated run is current until it ends."""
    tracer = memory.tracer_provider.get_tracer("model")
    tracer.start_span("chat").end()
    run.end(run_span())
    tracer.start_span("later").end()
    assert parents(memory) == {"chat": "invoke_agent triage", "invoke_agent triage": None, "later": None}


def test_a_run_that_is_not_activated_is_nobodys_parent_but_its_calls(memory, call_span, run_span):
    """A run that nobody closes does not swallow the unrelated spans of its thread."""
    run = memory.tracing().start_run("triage")
    memory.tracer_provider.get_tracer("web").start_span("GET /").end()
    run.start_call("search", service="search-api").end(call_span(), ok=True)
    run.end(run_span())
    assert parents(memory) == {
        "GET /": None,
        "execute_tool search": "invoke_agent triage",
        "invoke_agent triage": None,
    }


def test_a_span_between_run_and_call_keeps_its_place(memory, run, call_span, run_span):
    """A span that the program opens inside the run is the parent of the calls inside it."""
    with memory.tracer_provider.get_tracer("program").start_as_current_span("plan"):
        run.start_call("search", service="search-api").end(call_span(), ok=True)
    run.end(run_span())
    assert parents(memory)["execute_tool search"] == "plan"
    assert parents(memory)["plan"] == "invoke_agent triage"


def test_threads_that_inherit_nothing_belong_to_the_run(memory, run, call_span, run_span):
    """A plain thread and a pool's thread start without a context, and their calls find the run all the same."""

    def call(tool):
        trace = run.start_call(tool, service=tool)
        memory.tracer_provider.get_tracer("httpx").start_span(f"GET {tool}").end()
        trace.end(call_span(tool=tool), ok=True)
        return get_current_span().get_span_context().is_valid

    thread = Thread(target=call, args=("a",))
    thread.start()
    thread.join()
    with ThreadPoolExecutor(1) as pool:
        leaked = pool.submit(call, "b").result()
    run.end(run_span())
    assert not leaked
    assert parents(memory) == {
        "GET a": "execute_tool a",
        "execute_tool a": "invoke_agent triage",
        "GET b": "execute_tool b",
        "execute_tool b": "invoke_agent triage",
        "invoke_agent triage": None,
    }


def test_a_thread_with_a_trace_of_its_own_still_belongs_to_the_run(memory, run, call_span, run_span):
    """A worker's own span does not take a call away from its run."""

    def work():
        with memory.tracer_provider.get_tracer("queue").start_as_current_span("job"):
            run.start_call("search", service="search-api").end(call_span(), ok=True)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    run.end(run_span())
    assert parents(memory)["execute_tool search"] == "invoke_agent triage"


def test_two_runs_in_one_task_keep_their_calls_apart(memory, call_span, run_span):
    """A call goes to the run it was made through, not to the one that is current."""
    first, second = memory.tracing().start_run("first"), memory.tracing().start_run("second")
    second.activate()
    first.start_call("a", service="a").end(call_span(tool="a"), ok=True)
    second.end(run_span())
    first.end(run_span())
    assert parents(memory)["execute_tool a"] == "invoke_agent first"


def test_run_in_executor_belongs_to_the_run(memory, run, call_span, run_span):
    """Asyncio's executor does not copy the context, and its calls find the run all the same."""

    def call():
        run.start_call("search", service="search-api").end(call_span(), ok=True)

    async def main():
        await asyncio.get_running_loop().run_in_executor(None, call)
        await asyncio.to_thread(call)

    asyncio.run(main())
    run.end(run_span())
    ids = {span.parent.span_id for span in memory.spans if span.parent}
    assert ids == {memory.span("invoke_agent triage").context.span_id}


def test_siblings_in_a_task_group_do_not_become_each_others_parents(memory, call_span, run_span):
    """Calls that overlap in one event loop are siblings, and what each makes is its own child."""

    async def call(run, tool, mine, other):
        trace = run.start_call(tool, service=tool)
        mine.set()
        await other.wait()
        memory.tracer_provider.get_tracer("httpx").start_span(f"GET {tool}").end()
        trace.end(call_span(tool=tool), ok=True)

    async def main():
        run = memory.tracing().start_run("triage")
        run.activate()
        one, two = asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(call(run, "a", one, two))
            group.create_task(call(run, "b", two, one))
        run.end(run_span())

    asyncio.run(main())
    assert parents(memory) == {
        "GET a": "execute_tool a",
        "GET b": "execute_tool b",
        "execute_tool a": "invoke_agent triage",
        "execute_tool b": "invoke_agent triage",
        "invoke_agent triage": None,
    }


def test_a_cancelled_call_ends_its_spans(memory, run, call_span, run_span, fault):
    """Cancellation in a second attempt closes both spans, and the task's context is as before."""

    async def call():
        trace = run.start_call("search", service="search-api")
        try:
            trace.attempt_started("search", 1)
            trace.attempt_ended(fault)
            trace.attempt_started("search", 2)
            await asyncio.Event().wait()
        finally:
            trace.end(call_span(outcome="cancelled"), ok=True)

    async def main():
        task = asyncio.create_task(call())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    run.end(run_span())
    assert [span.name for span in memory.spans] == [
        "attempt search",
        "attempt search",
        "execute_tool search",
        "invoke_agent triage",
    ]


def test_a_call_may_end_in_another_context_than_it_began_in(memory, run, call_span, caplog):
    """An async generator closed by somebody else ends its call elsewhere, without a word in the log."""
    call = contextvars.copy_context().run(run.start_call, "search", service="search-api")
    before = otel_context.get_current()
    call.end(call_span(), ok=True)
    assert otel_context.get_current() is before
    assert [span.name for span in memory.spans] == ["execute_tool search"]
    assert caplog.records == []


def test_a_context_that_a_tool_leaked_is_cleaned_up(run, call_span):
    """A tool that attaches a context and forgets it does not change the caller's."""
    before = otel_context.get_current()
    call = run.start_call("search", service="search-api")
    otel_context.attach(otel_context.set_value("leaked", "yes"))
    call.end(call_span(), ok=True)
    assert otel_context.get_current() is before


def test_ending_a_run_twice_is_ending_it_once(memory, run, run_span):
    """The second end of a run does nothing."""
    run.end(run_span())
    run.end(run_span())
    assert len(memory.spans) == 1
