"""Many calls at once: counts add up, locks are not held while a tool runs, cancellation leaves nothing open."""

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.policy import BreakerPolicy, BudgetPolicy, Policy, RetryPolicy, RunPolicy
from otel_toolerrors.vocabulary import FaultClassified, RetryScheduled

OPEN_HANDED = Policy(
    retry=RetryPolicy(base_delay=0, jitter="none"),
    breaker=BreakerPolicy(control="disabled"),
    budget=BudgetPolicy(capacity=1e9),
    run=RunPolicy(stop_on=frozenset(), tool_failures=10**6, corrections=10**6, corrections_in_a_row=10**6),
)
"""Nothing stops early, so that the numbers can be told in advance."""


def _expected(calls):
    """Per seven calls: one fails for good after three attempts, two need a second attempt, four work at once."""
    per = Counter(n % 7 for n in range(calls))
    bad, flaky = per[0], per[1] + per[2]
    return {"calls": calls, "attempts": 3 * bad + 2 * flaky + (calls - bad - flaky), "failed": bad, "recovered": flaky}


def _fails(n, tried):
    return n % 7 == 0 or (n % 7 in (1, 2) and tried == 1)


def test_ten_thousand_async_calls_add_up():
    """Every call ends once, every attempt is counted once, every retry is scheduled once."""
    tried, events = Counter(), []
    layer = RecoveryLayer(OPEN_HANDED, on_event=events.append)

    @layer.tool(effects="read", service="api")
    async def fetch(n: int) -> int:
        tried[n] += 1
        await asyncio.sleep(0)
        if _fails(n, tried[n]):
            raise ConnectionResetError
        return n

    async def main():
        async with layer.run() as run:
            return await asyncio.gather(*(run.acall("fetch", {"n": n}) for n in range(10_000)))

    outcomes = asyncio.run(main())

    expected = _expected(10_000)
    assert expected == {
        "calls": len(outcomes),
        "attempts": sum(tried.values()),
        "failed": sum(not outcome.ok for outcome in outcomes),
        "recovered": sum(outcome.ok and outcome.fault is not None for outcome in outcomes),
    }
    assert expected["attempts"] == sum(outcome.attempts for outcome in outcomes)
    retries = sum(isinstance(event, RetryScheduled) for event in events)
    assert expected["attempts"] - expected["calls"] == retries
    assert retries + expected["failed"] == sum(isinstance(event, FaultClassified) for event in events)


def test_sixty_four_threads_add_up():
    """The same over threads that share the layer and the run."""
    tried, lock = Counter(), threading.Lock()
    layer = RecoveryLayer(OPEN_HANDED)

    @layer.tool(effects="read", service="api")
    def fetch(n: int) -> int:
        with lock:
            tried[n] += 1
        if _fails(n, tried[n]):
            raise ConnectionResetError
        return n

    with layer.run() as run, ThreadPoolExecutor(64) as pool:
        outcomes = list(pool.map(lambda n: run.call("fetch", {"n": n}), range(3_500)))

    expected = _expected(3_500)
    assert expected["attempts"] == sum(tried.values()) == sum(outcome.attempts for outcome in outcomes)
    assert expected["failed"] == sum(not outcome.ok for outcome in outcomes)


def test_no_lock_is_held_while_a_tool_runs():
    """A call made by a tool, and one that runs meanwhile in a thread, both go through."""
    layer = RecoveryLayer(OPEN_HANDED)
    inside, meanwhile = threading.Event(), threading.Event()

    @layer.tool(effects="read", service="api")
    def inner() -> str:
        return "inner"

    @layer.tool(effects="read", service="api")
    def outer() -> str:
        inside.set()
        assert meanwhile.wait(10), "the other thread was held up"
        return str(run.call("inner").value)

    with layer.run() as run, ThreadPoolExecutor(1) as pool:
        slow = pool.submit(run.call, "outer")
        assert inside.wait(10)
        assert run.call("inner").ok
        meanwhile.set()
        assert "inner" == slow.result().value


AWAITS = 7
"""Turns of the loop after which the call below is done: three attempts, two waits."""


@pytest.mark.parametrize("turns", range(AWAITS))
def test_cancellation_at_any_await_leaves_a_valid_transcript_and_closed_spans(turns):
    """Wherever the task is cut, every span ends and every call of the turn can be answered."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def asleep(_seconds):
        await asyncio.sleep(0)

    patient = OPEN_HANDED.model_copy(update={"retry": RetryPolicy(base_delay=1)})
    layer = RecoveryLayer(patient, asleep=asleep, tracer_provider=provider)

    @layer.tool(effects="read")
    async def fetch() -> None:
        await asyncio.sleep(0)
        raise ConnectionResetError

    async def main():
        async with layer.run() as run:
            task = asyncio.create_task(run.acall("fetch", call_id="a"))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return task.cancelled(), run.answers(["a", "b"])

    cancelled, answers = asyncio.run(main())

    assert ["a", "b"] == [answer.call_id for answer in answers]
    assert all(answer.text for answer in answers)
    assert "cancelled" == answers[1].kind
    assert cancelled == (answers[0].kind == "cancelled")
    assert cancelled == (turns < AWAITS - 1), "the last case is the one that was let finish"
    spans = exporter.get_finished_spans()
    assert all(span.end_time is not None for span in spans)
    assert len({span.parent.span_id for span in spans if span.parent} - {span.context.span_id for span in spans}) == 0


def test_a_stop_answers_the_siblings_of_the_turn():
    """One parallel call stops the run: the others of the turn each get a result."""
    layer = RecoveryLayer()

    @layer.tool(effects="read")
    async def denied() -> None:
        raise PermissionError(13, "denied")

    @layer.tool(effects="read")
    async def slow(n: int) -> int:
        await asyncio.sleep(0)
        return n

    async def main():
        async with layer.run() as run:
            turn = [("denied", {}, "a"), ("slow", {"n": 1}, "b"), ("slow", {"n": 2}, "c")]
            first = await run.acall_all(turn)
            second = await run.acall_all([("slow", {"n": 3}, "d")])
            return first + second

    outcomes = asyncio.run(main())

    assert ["a", "b", "c", "d"] == [outcome.call_id for outcome in outcomes]
    assert ["stopped", "cancelled", "cancelled", "cancelled"] == [outcome.kind for outcome in outcomes]


def test_a_call_that_ends_in_another_context_is_over_there_too():
    """Some frameworks drive one coroutine from several contexts: what comes later is no part of the call."""
    layer, made = RecoveryLayer(OPEN_HANDED), []

    class _Pause:
        def __await__(self):
            yield

    @layer.tool(effects="read")
    async def look() -> str:
        await _Pause()
        return "seen"

    @layer.protect(effects="read")
    def fetch() -> None:
        made.append(1)
        raise ConnectionResetError(104, "reset")

    coroutine, first = layer.run().acall("look"), copy_context()
    first.run(coroutine.send, None)
    second = first.run(copy_context)
    with pytest.raises(StopIteration) as end:
        second.run(coroutine.send, None)
    assert "seen" == end.value.value.value
    with pytest.raises(ConnectionResetError):
        second.run(fetch)
    assert 1 < len(made)  # inside a call that is repeated itself, it would be tried once
