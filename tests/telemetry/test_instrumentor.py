"""Zero-code observe mode. No integration is used here: a small framework and its observer stand in for one.

They are found the way real ones are, through the entry points of an installed distribution.
"""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.configuration.instrumentation import configure_instrumentation
from opentelemetry.configuration.models import ExperimentalInstrumentation

from otel_toolerrors.telemetry.instrumentor import ToolErrorsInstrumentor

FRAMEWORK = '''
"""A framework whose agents call tools."""
def call_tool(name):
    return name.upper()
'''

OBSERVER = '''
"""Watches it."""
import toy_framework
from otel_toolerrors.vocabulary import CallSpan, to_attributes

def observe(tracing):
    original = toy_framework.call_tool
    run = tracing.start_run("observed")

    def call_tool(name):
        call = run.start_call(name, service=name)
        result = original(name)
        call.end(lambda: to_attributes(CallSpan(
            operation="execute_tool", tool=name, tool_type="function", run_id="r", index=0, source="main_agent",
            service=name, effects="read", arguments="d", policy="p", outcome="ok", attempts=1)), ok=True)
        return result

    toy_framework.call_tool = call_tool

    def take_out():
        toy_framework.call_tool = original
    return take_out

def broken(tracing):
    raise RuntimeError("this framework has changed")

def stuck(tracing):
    def take_out():
        raise RuntimeError("cannot be taken out")
    return take_out
'''

ENTRY_POINTS = """
[otel_toolerrors.observers]
toy_framework = toy_observer:observe
json = toy_observer:broken
html = toy_observer:stuck
no_such_framework = toy_observer:broken
no.such.package = toy_observer:broken

[opentelemetry_configurator]
sdk = opentelemetry.sdk._configuration:_OTelSDKConfigurator

[opentelemetry_instrumentor]
toolerrors = otel_toolerrors.telemetry.instrumentor:ToolErrorsInstrumentor
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder with the toy framework, its observer, and their distribution, on the path."""
    (tmp_path / "toy_framework.py").write_text(FRAMEWORK)
    (tmp_path / "toy_observer.py").write_text(OBSERVER)
    metadata = tmp_path / "toy-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for module in ("toy_framework", "toy_observer"):
        sys.modules.pop(module, None)


@pytest.fixture
def instrumentor():
    """The instrumentor, taken out again afterwards."""
    instrumentor = ToolErrorsInstrumentor()
    yield instrumentor
    if instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.uninstrument()


@pytest.mark.usefixtures("installed")
def test_what_a_framework_does_is_seen_and_not_changed(memory, instrumentor):
    """An observed tool returns what it returned before, and leaves a span."""
    instrumentor.instrument(tracer_provider=memory.tracer_provider, skip_dep_check=True)
    framework = importlib.import_module("toy_framework")
    assert framework.call_tool("search") == "SEARCH"
    assert [span.name for span in memory.spans] == ["execute_tool search"]


@pytest.mark.usefixtures("installed")
def test_uninstrument_takes_everything_out(memory, instrumentor):
    """Afterwards the framework is as it was; one observer that cannot be taken out does not keep the others in."""
    instrumentor.instrument(tracer_provider=memory.tracer_provider)
    instrumentor.uninstrument()
    assert not instrumentor.is_instrumented_by_opentelemetry
    assert importlib.import_module("toy_framework").call_tool("search") == "SEARCH"
    assert memory.spans == ()


@pytest.mark.usefixtures("installed")
def test_a_broken_observer_is_left_out(memory, instrumentor, caplog):
    """An observer that fails is named in the log, and the others work; a framework that is absent is no error."""
    instrumentor.instrument(tracer_provider=memory.tracer_provider)
    assert instrumentor.is_instrumented_by_opentelemetry
    assert [record.getMessage() for record in caplog.records] == ["the observer of json could not be put in place"]


@pytest.mark.usefixtures("installed")
def test_instrumenting_twice_is_instrumenting_once(memory, instrumentor, caplog):
    """The second time is a warning: nothing is observed twice."""
    instrumentor.instrument(tracer_provider=memory.tracer_provider)
    caplog.clear()
    ToolErrorsInstrumentor().instrument(tracer_provider=memory.tracer_provider)
    importlib.import_module("toy_framework").call_tool("search")
    assert [record.getMessage() for record in caplog.records] == ["tool errors are observed already"]
    assert len(memory.spans) == 1


def test_uninstrumenting_what_is_not_is_a_warning(instrumentor, caplog):
    """Taking out what is not in place does nothing."""
    instrumentor.uninstrument()
    assert [record.getMessage() for record in caplog.records] == ["tool errors are not observed"]


@pytest.mark.usefixtures("installed")
def test_one_framework_can_be_left_out(memory, instrumentor, monkeypatch):
    """The variable that disables instrumentations knows each observer by name."""
    monkeypatch.setenv("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "requests, toolerrors-toy_framework")
    instrumentor.instrument(tracer_provider=memory.tracer_provider)
    importlib.import_module("toy_framework").call_tool("search")
    assert memory.spans == ()


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("options", "watched"),
    [({}, True), ({"frameworks": ["toy_framework"]}, True), ({"frameworks": []}, False), ({"enabled": False}, False)],
)
def test_a_declarative_configuration_file_can_choose(instrumentor, options, watched):
    """The instrumentor is known to declarative configuration, with its options."""
    python = {"toolerrors": options}
    configure_instrumentation(ExperimentalInstrumentation(python=python))
    assert instrumentor.is_instrumented_by_opentelemetry is options.get("enabled", True)
    assert ("toy_observer" in importlib.import_module("toy_framework").call_tool.__module__) is watched


@pytest.mark.usefixtures("installed")
def test_an_option_that_does_not_exist_is_named(instrumentor, caplog):
    """A wrong word in the file is said in the log, and nothing is observed."""
    configure_instrumentation(ExperimentalInstrumentation(python={"toolerrors": {"event_signals": "span"}}))
    assert not instrumentor.is_instrumented_by_opentelemetry
    assert "event_signals" in caplog.text


def test_it_depends_on_nothing():
    """OpenTelemetry's launcher asks what must be installed; each observer looks for itself."""
    assert list(ToolErrorsInstrumentor().instrumentation_dependencies()) == []


@pytest.mark.parametrize(("disabled", "seen"), [("", ["execute_tool search"]), ("toolerrors", []), ("*", [])])
def test_under_opentelemetry_instrument(installed, disabled, seen):
    """The real launcher sets up the SDK and finds the entry point, and leaves it out if it is told to."""
    program = "import toy_framework; assert toy_framework.call_tool('search') == 'SEARCH'"
    environment = {
        "PYTHONPATH": os.pathsep.join([str(installed), str(Path(__file__).parents[2])]),
        "OTEL_TRACES_EXPORTER": "console",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": disabled,
    }
    done = subprocess.run(
        [Path(sys.executable).parent / "opentelemetry-instrument", sys.executable, "-c", program],
        env={**os.environ, **environment},
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert done.stderr.count("the observer of json could not be put in place") == len(seen)
    assert re.findall(r'"name": "(execute_tool [^"]*)"', done.stdout) == seen
