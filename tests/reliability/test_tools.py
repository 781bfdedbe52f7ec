"""Tools that break the rules: the agent gets an answer, or its own interrupt, and the next call works."""

import asyncio
import gc
import sys
import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_toolerrors as te


class OwnInterrupt(BaseException):
    """A framework's signal."""


def _traced(**options):
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return te.RecoveryLayer(tracer_provider=provider, sleep=lambda _seconds: None, **options), exporter


INTERRUPTS = [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError, OwnInterrupt]


@pytest.mark.parametrize("kind", INTERRUPTS)
@pytest.mark.parametrize("attempt", [1, 2])
def test_no_interrupt_is_swallowed(kind, attempt):
    """A BaseException of a tool reaches the caller as it was raised, spans end, and the next call works."""
    layer, exporter = _traced()
    error = kind("stop")
    turns = iter([ConnectionResetError("reset")] * (attempt - 1) + [error])

    @layer.tool(effects="read")
    def read():
        for one in turns:
            raise one
        return "good"

    with layer.run() as run:
        with pytest.raises(kind) as raised:
            run.call("read", call_id="a")
        assert raised.value is error
        assert run.answers(["a"])[0].text
        assert "good" == run.call("read").value
    assert all(span.end_time for span in exporter.get_finished_spans())
    assert 1 == sum(span.name.startswith("invoke_agent") for span in exporter.get_finished_spans())


@pytest.mark.parametrize("kind", [KeyboardInterrupt, asyncio.CancelledError, OwnInterrupt])
def test_no_interrupt_is_swallowed_by_await(kind):
    """The same for an async tool."""
    layer, _ = _traced()
    error = kind("stop")

    @layer.tool(effects="read")
    async def read():
        raise error

    async def main():
        with layer.run() as run:
            try:
                await run.acall("read")
            except kind as caught:
                return caught
            return None

    assert asyncio.run(main()) is error


def test_a_tool_that_returns_after_its_timeout_changes_nothing_more():
    """The late value and the late error of a thread go nowhere: outcome, breaker and spans are as they were."""
    layer, exporter = _traced(policy=te.parse_policy("[tools.slow.retry]\nattempt_timeout = 0.01\nmax_attempts = 1"))
    go_on, late = threading.Event(), threading.Event()

    @layer.tool(effects="write")
    def slow(how):
        go_on.wait(30)
        late.set()
        if how == "raise":
            raise RuntimeError("late")
        return "late"

    with layer.run() as run:
        outcomes = [run.call("slow", {"how": how}) for how in ("return", "raise")]
    before = [(span.name, span.attributes, span.events) for span in exporter.get_finished_spans()]
    texts = [outcome.text for outcome in outcomes]
    go_on.set()
    assert late.wait(30)
    _ended("toolerrors-slow")
    assert ["stopped", "cancelled"] == [outcome.kind for outcome in outcomes] or all(not one.ok for one in outcomes)
    assert texts == [outcome.text for outcome in outcomes]
    assert before == [(span.name, span.attributes, span.events) for span in exporter.get_finished_spans()]


def _ended(name):
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(30)


def test_a_recursion_without_end_is_a_bug_of_the_tool():
    """RecursionError is classified and shown, and the next call works."""
    layer, _ = _traced(policy=te.parse_policy("[run]\nstop_on = []"))

    @layer.tool(effects="read")
    def deeper(n=0):
        return deeper(n + 1)

    layer.tool(name="good", effects="read")(lambda: "good")
    with layer.run() as run:
        assert "bug" == run.call("deeper").fault.category
        assert "good" == run.call("good").value


def test_a_call_with_hardly_any_stack_left_harms_no_later_one():
    """Wherever the stack ends inside the layer, the call is answered or the agent gets the RecursionError."""
    layer, exporter = _traced(policy=te.parse_policy("[run]\nstop_on = []"))
    layer.tool(name="good", effects="read")(lambda: "good")
    endings = set()

    def descend(left, run):
        if left:
            return descend(left - 1, run)
        return run.call("good").kind

    with layer.run() as run:
        depth = sys.getrecursionlimit() - _depth()
        for left in range(depth - 90, depth, 3):
            try:
                endings.add(descend(left, run))
            except RecursionError:
                endings.add("RecursionError")
            assert "good" == run.call("good").value
    assert "RecursionError" in endings
    assert all(span.end_time for span in exporter.get_finished_spans())


def _depth():
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def test_a_tool_that_calls_itself_through_the_layer_comes_to_an_end():
    """Calls inside calls, fifty deep, each have their span under the one that made them."""
    layer, exporter = _traced()

    @layer.tool(effects="read")
    def nested(n):
        return n if n == 50 else run.call("nested", {"n": n + 1}).value

    with layer.run() as run:
        assert 50 == run.call("nested", {"n": 0}).value
    calls = [span for span in exporter.get_finished_spans() if span.name.startswith("execute_tool")]
    assert 51 == len({span.parent.span_id for span in calls})


def test_a_thousand_runs_that_nobody_closes_leave_nothing_behind():
    """Leaked runs are freed, start no thread, and do not become the parents of later runs."""
    layer, exporter = _traced()
    layer.tool(name="good", effects="read")(lambda: "good")
    threads = threading.active_count()
    for _ in range(1_000):
        run = layer.run(agent="leaky")
        run.call("good")
        with layer.run(agent="leaky") as closed:
            closed.call("good")
    del run, closed
    gc.collect()
    assert threads == threading.active_count()
    assert 0 == sum(type(one) is te.Run and one.layer is layer for one in gc.get_objects())
    roots = [span for span in exporter.get_finished_spans() if span.name == "invoke_agent leaky"]
    assert 1_000 == len(roots)
    assert all(span.parent is None for span in roots)


def test_arguments_that_fight_back_are_passed_on():
    """Arguments that cannot be shown, compared or hashed reach the tool as they are."""

    class Unruly:
        def _raise(self, *_):
            raise RuntimeError("no")

        __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __reduce_ex__ = _raise

    layer, _ = _traced()
    layer.tool(name="same", effects="read", cache_ttl=60.0)(lambda value: value)
    unruly = Unruly()
    cycle = []
    cycle.append(cycle)
    with layer.run() as run:
        for value in (unruly, cycle, {1: {2: float("nan")}}, b"\xff", "\ud800", 10**5_000, lambda: None):
            assert run.call("same", {"value": value}).value is value
