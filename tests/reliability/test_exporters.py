"""Exporters that raise, block or are slow: the agent's results and pace stay, and its end comes."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_toolerrors as te
from otel_toolerrors.telemetry.handle import Telemetry
from otel_toolerrors.telemetry.outbox import Drops
from otel_toolerrors.telemetry.processors import CountedSpanExporter, CountedSpanProcessor

CALLS = 300
FAR_BELOW_THE_FAULT = 5.0
"""Seconds; the exporters here would take minutes, or forever."""


class Exporter:
    """An exporter with one fault."""

    def __init__(self, fault):
        self.fault = fault
        self.stopped = threading.Event()

    def export(self, _spans):
        return self.fault(self)

    def shutdown(self):
        self.stopped.set()

    def force_flush(self, _timeout_millis=0):
        return True


def _raise(_exporter):
    raise RuntimeError("the exporter is broken")


def _fail(_exporter):
    return SpanExportResult.FAILURE


def _block(exporter):
    exporter.stopped.wait(60)
    return SpanExportResult.FAILURE


def _never_return(_exporter):
    threading.Event().wait(60)


def _be_slow(exporter):
    return SpanExportResult.FAILURE if exporter.stopped.wait(30) else SpanExportResult.SUCCESS


def _work(fault, queue=4_096):
    """Make calls while the exporter has its fault; give the handle, the outcomes and the seconds they took."""
    drops = Drops()
    exporter = CountedSpanExporter(Exporter(fault), drops)
    batches = BatchSpanProcessor(exporter, max_queue_size=queue, max_export_batch_size=64, schedule_delay_millis=1)
    processor = CountedSpanProcessor(batches, exporter, drops)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(processor)
    handle = Telemetry(destination="test", _drops=drops, _processors=(processor,), _exporters=(exporter,))
    layer = te.RecoveryLayer(tracer_provider=provider)
    layer.tool(name="double", effects="read")(lambda n: 2 * n)
    began = time.monotonic()
    with layer.run() as run:
        values = [run.call("double", {"n": n}).value for n in range(CALLS)]
    return handle, values, time.monotonic() - began


@pytest.mark.parametrize("fault", [_raise, _fail, _block, _be_slow, _never_return])
def test_an_exporter_with_a_fault_changes_no_result_and_no_pace(fault):
    """Every value is right, no call waits for the exporter, and the end comes within its bound."""
    handle, values, seconds = _work(fault)
    assert [2 * n for n in range(CALLS)] == values
    assert seconds < FAR_BELOW_THE_FAULT
    began = time.monotonic()
    in_time = handle.shutdown(timeout=0.1)
    assert time.monotonic() - began < FAR_BELOW_THE_FAULT
    assert in_time == (fault in (_raise, _fail))
    assert handle.shutdown() is True, "the second end has nothing to do"


@pytest.mark.parametrize("fault", [_raise, _fail, _block, _be_slow])
def test_what_an_exporter_loses_is_counted(fault):
    """Each span that was not delivered counts once, also when the exporter had to be told to give up."""
    handle, _, _ = _work(fault)
    handle.shutdown(timeout=0.1)
    assert {"export_failed": CALLS + 1} == handle.dropped


def test_what_does_not_fit_into_the_queue_is_counted():
    """While the exporter blocks, spans that the SDK's queue has no room for are lost, and each is counted."""
    handle, values, _ = _work(_block, queue=64)
    handle.shutdown(timeout=0.1)
    assert [2 * n for n in range(CALLS)] == values
    assert {"export_failed", "queue_full"} == set(handle.dropped)
    assert CALLS + 1 == sum(handle.dropped.values())


def test_what_ends_after_the_end_is_counted():
    """A span that ends once telemetry is shut down is lost, and counted."""
    drops, provider = Drops(), TracerProvider(shutdown_on_exit=False)
    exporter = CountedSpanExporter(InMemorySpanExporter(), drops)
    processor = CountedSpanProcessor(BatchSpanProcessor(exporter), exporter, drops)
    provider.add_span_processor(processor)
    with provider.get_tracer("test").start_as_current_span("late"):
        processor.shutdown()
    assert {"closed": 1} == drops.by_reason()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork, which this system lacks")
def test_a_forked_child_counts_its_own_losses_only(tmp_path):
    """Spans that wait in the parent at the fork are the parent's to deliver: the child has lost nothing."""
    code = """
        import os, sys
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from otel_toolerrors.telemetry.outbox import Drops
        from otel_toolerrors.telemetry.processors import CountedSpanExporter, CountedSpanProcessor
        drops, provider, memory = Drops(), TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
        exporter = CountedSpanExporter(memory, drops)
        processor = CountedSpanProcessor(BatchSpanProcessor(exporter), exporter, drops)
        provider.add_span_processor(processor)
        tracer = provider.get_tracer("test")
        for _ in range(3): tracer.start_span("parent's").end()
        child = os.fork()
        if child == 0: tracer.start_span("child's").end()
        processor.shutdown()
        good = not drops.by_reason() and len(memory.get_finished_spans()) == (3 if child else 1)
        if not child: os._exit(0 if good else 3)
        print(good, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=60, env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert "True 0\n" == done.stdout, done.stderr


@pytest.mark.parametrize("fault", [_block, _never_return])
def test_a_flush_waits_no_longer_than_told(fault):
    """An exporter that does not answer is not waited for; the answer says that not all was delivered."""
    handle, _, _ = _work(fault)
    began = time.monotonic()
    assert handle.flush(timeout=0.1) is False
    assert time.monotonic() - began < FAR_BELOW_THE_FAULT
    handle.shutdown(timeout=0.0)


def test_a_program_ends_although_its_collector_is_gone(tmp_path):
    """Without a word to shut down, a process whose endpoint refuses connections ends well, its values right."""
    code = """
        import otel_toolerrors as te
        te.configure("triage")
        layer = te.RecoveryLayer()
        layer.tool(name="double", effects="read")(lambda n: 2 * n)
        with layer.run() as run:
            print(sum(run.call("double", {"n": n}).value for n in range(10)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=60, env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert (0, "90\n") == (done.returncode, done.stdout)
    assert "Traceback" not in done.stderr
