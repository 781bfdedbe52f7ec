import importlib.util
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from otel_toolerrors.telemetry.instrumentor import OBSERVERS, ToolErrorsInstrumentor
from tests.integrations.plain import PLAIN

pytest.importorskip("opentelemetry.sdk", reason="spans are kept in memory by the SDK")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@pytest.fixture
def spans():
    """Where finished spans go while observers are in place."""
    exporter = InMemorySpanExporter()
    return exporter


def _observed(framework, exporter):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = ToolErrorsInstrumentor()
    instrumentor.instrument(tracer_provider=provider, frameworks=[framework])
    try:
        return PLAIN[framework]()
    finally:
        instrumentor.uninstrument()


@pytest.mark.parametrize("framework", PLAIN)
def test_observing_changes_no_byte_and_records_every_fault(framework, spans):
    """A framework's transcript is the same with and without its observer, and its faults are on record."""
    needs = {"langchain_core": "langchain"}.get(framework, framework)
    pytest.importorskip(needs, reason=f"observes {framework}")
    assert framework in {point.name for point in entry_points(group=OBSERVERS)}, "stale metadata: install again (-e .)"

    before = PLAIN[framework]()
    during = _observed(framework, spans)
    after = PLAIN[framework]()

    assert before.encode() == during.encode() == after.encode()
    faults = [
        (span.attributes["gen_ai.tool.name"], event.attributes["toolerrors.category"])
        for span in spans.get_finished_spans()
        for event in span.events
        if event.name == "toolerrors.fault.classified"
    ]
    assert {"look", "pick"} == {tool for tool, _ in faults}
    assert "validation" in {category for tool, category in faults if tool == "pick"}
    assert all(
        span.status.status_code.name == "ERROR" for span in spans.get_finished_spans() if "execute_tool" in span.name
    )


def test_every_observer_has_an_example():
    """No observer goes untested."""
    assert set(PLAIN) == {point.name for point in entry_points(group=OBSERVERS)}


def test_without_a_line_of_code(tmp_path):
    """Under opentelemetry-instrument a program prints what it prints without, and its faults are exported."""
    for needed in ("opentelemetry.instrumentation", "anthropic"):
        pytest.importorskip(needed, reason="the launcher, and a framework to observe")
    program = [sys.executable, "-m", "tests.integrations.plain", "anthropic"]
    launcher = [sys.executable, "-m", "opentelemetry.instrumentation.auto_instrumentation"]
    assert importlib.util.find_spec(launcher[-1]) is not None

    plain = subprocess.run(program, capture_output=True, check=True)
    environment = {
        "PATH": "", "PYTHONPATH": ".", "OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": ",".join(
            f"toolerrors-{name}" for name in PLAIN if name != "anthropic"
        ),
    }  # fmt: skip
    observed = subprocess.run([*launcher, *program], capture_output=True, check=True, env=environment)

    assert observed.stdout.startswith(plain.stdout)
    assert b"toolerrors.fault.classified" in observed.stdout
