import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from otel_toolerrors.telemetry.instrumentor import OBSERVERS, ToolErrorsInstrumentor
from tests.integrations.plain import PLAIN

pytest.importorskip("opentelemetry.sdk", reason="spans are kept in memory by the SDK")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

_SEEN_AS = {"openai": "unknown"}
"""Where only the error's text is in sight, there is no telling what kind of error it was."""


@pytest.fixture
def spans():
    """Where finished spans go while observers are in place."""
    return InMemorySpanExporter()


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

    observed = _observed(framework, spans)
    unobserved = PLAIN[framework]()

    assert unobserved.encode() == observed.encode()
    faults = [
        (span.attributes["gen_ai.tool.name"], event.attributes["toolerrors.category"])
        for span in spans.get_finished_spans()
        for event in span.events
        if event.name == "toolerrors.fault.classified"
    ]
    assert {"look", "pick"} == {tool for tool, _ in faults}
    assert _SEEN_AS.get(framework, "validation") in {category for tool, category in faults if tool == "pick"}
    calls = [span for span in spans.get_finished_spans() if "execute_tool" in span.name]
    assert {("ERROR", True)} == {(c.status.status_code.name, c.attributes["toolerrors.observed"]) for c in calls}


def test_every_observer_has_an_example():
    """No observer goes untested."""
    assert set(PLAIN) == {point.name for point in entry_points(group=OBSERVERS)}


def test_without_a_line_of_code(tmp_path):
    """Under opentelemetry-instrument a program prints what it prints without, and its faults are exported."""
    for needed in ("opentelemetry.distro", "anthropic"):
        pytest.importorskip(needed, reason="needs the launcher's distro, and a framework to observe")
    program = [sys.executable, "-m", "tests.integrations.plain", "anthropic"]
    settings = {
        "OTEL_TRACES_EXPORTER": "console",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": ",".join(
            f"toolerrors-{name}" for name in PLAIN if name != "anthropic"
        ),
    }
    launcher = Path(sys.executable).with_name("opentelemetry-instrument")
    environment = {**os.environ, "PYTHONPATH": "."}

    printed = subprocess.run([*program, tmp_path / "plain"], capture_output=True, check=True, env=environment)
    environment |= settings
    spans = subprocess.run([launcher, *program, tmp_path / "seen"], capture_output=True, check=True, env=environment)

    assert (tmp_path / "plain").read_bytes() == (tmp_path / "seen").read_bytes()
    assert b"toolerrors.fault.classified" in spans.stdout
    assert b"" == printed.stdout
