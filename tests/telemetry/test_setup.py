"""`configure`: where the telemetry goes, and what is left when the process ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry import metrics, trace
from opentelemetry._logs import get_logger_provider

from otel_toolerrors.telemetry import Tracing, configure
from otel_toolerrors.vocabulary import ToolDegraded

WORK = """
import sys, os
import otel_toolerrors.telemetry as telemetry
from otel_toolerrors.vocabulary import CallSpan, RunSpan, to_attributes

def call(run, tool="search", **changes):
    trace = run.start_call(tool, service=tool)
    trace.end(lambda: to_attributes(CallSpan(**{**dict(
        operation="execute_tool", tool=tool, tool_type="function", run_id="r", index=0, source="main_agent",
        service=tool, effects="read", arguments="d", policy="p", outcome="ok", attempts=1), **changes})), ok=True)

def end(run):
    run.end(lambda: RunSpan(operation="invoke_agent", run_id="r", source="main_agent", arm="context", tools=tool_list,
                            policy="p", catalog="c"))
tool_list = "search"
tracing = telemetry.Tracing()
"""


def process(code, folder, **environment):
    """Run code after the above in a process of its own, with ``folder`` as its current one."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", WORK + code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(autouse=True)
def _nothing_becomes_global():
    before = trace.get_tracer_provider(), metrics.get_meter_provider(), get_logger_provider()
    yield
    assert before == (trace.get_tracer_provider(), metrics.get_meter_provider(), get_logger_provider())


def spans_in(folder):
    """All spans in a folder's trace files."""
    lines = [line for path in sorted(folder.glob("traces-*.jsonl")) for line in path.read_text().splitlines()]
    return [
        span
        for line in lines
        for resource in json.loads(line)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def names_in(folder):
    """The names of all spans in a folder's trace files."""
    return sorted(span["name"] for span in spans_in(folder))


def test_traces_go_to_files_by_default(tmp_path, call_span, run_span):
    """Without a word from the environment a run ends up in a file, with its service's name."""
    with configure("triage", traces_dir=tmp_path / "traces", resource={"team": "x"}, set_global=False) as telemetry:
        tracing = Tracing(telemetry.tracer_provider)
        run = tracing.start_run("triage")
        run.start_call("search", service="search-api").end(call_span(), ok=True)
        run.end(run_span())
        assert telemetry.flush()
        assert names_in(tmp_path / "traces") == ["execute_tool search", "invoke_agent triage"]
    (path,) = (tmp_path / "traces").glob("*.jsonl")
    resource = json.loads(path.read_text().splitlines()[0])["resourceSpans"][0]["resource"]["attributes"]
    assert {"key": "service.name", "value": {"stringValue": "triage"}} in resource
    assert {"key": "team", "value": {"stringValue": "x"}} in resource
    assert telemetry.dropped == {}


@pytest.mark.parametrize("event_signal", ["logs", "both"])
def test_log_records_go_to_files_of_their_own(tmp_path, run_span, event_signal):
    """Events that are log records are in the folder as well."""
    with configure(traces_dir=tmp_path, event_signal=event_signal, set_global=False) as telemetry:
        tracing = Tracing(
            telemetry.tracer_provider, logger_provider=telemetry.logger_provider, event_signal=event_signal
        )
        run = tracing.start_run("triage")
        run.event(ToolDegraded(tool="search", code="http.503"))
        run.end(run_span())
    (path,) = tmp_path.glob("logs-*.jsonl")
    record = json.loads(path.read_text())["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    (span,) = spans_in(tmp_path)
    assert (record["eventName"], record["spanId"]) == ("toolerrors.tool.degraded", span["spanId"])
    assert len(span.get("events", [])) == (event_signal == "both")


def test_the_global_providers_are_set_and_found_later(tmp_path):
    """A layer made before configure() records after it, and everything is written at the end of the process."""
    done = process("telemetry.configure('triage'); run = tracing.start_run('triage'); call(run); end(run)", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert names_in(tmp_path / ".toolerrors" / "traces") == ["execute_tool search", "invoke_agent triage"]


def test_configure_chooses_the_event_signal_for_everyone(tmp_path):
    """Whoever does not say where events go, sends them where configure() was told."""
    code = """
telemetry.configure(event_signal="logs")
from otel_toolerrors.vocabulary import ToolDegraded
run = tracing.start_run("triage"); run.event(ToolDegraded(tool="search", code="http.503")); end(run)
"""
    done = process(code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (span,) = spans_in(tmp_path / ".toolerrors" / "traces")
    assert "events" not in span
    assert len(list((tmp_path / ".toolerrors" / "traces").glob("logs-*.jsonl"))) == 1


def test_calling_it_again_moves_to_another_folder(tmp_path):
    """The second call ends what the first one set up: nothing is written twice."""
    code = """
telemetry.configure(traces_dir="one"); run = tracing.start_run("a"); end(run)
telemetry.configure(traces_dir="two"); run = tracing.start_run("b"); end(run)
"""
    assert process(code, tmp_path).returncode == 0
    assert names_in(tmp_path / "one") == ["invoke_agent a"]
    assert names_in(tmp_path / "two") == ["invoke_agent b"]


def test_tracing_that_is_set_up_is_added_to(tmp_path):
    """A program that has its own provider keeps it, and its spans are in the files as well."""
    code = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
mine = TracerProvider(); trace.set_tracer_provider(mine)
assert telemetry.configure(traces_dir="traces").tracer_provider is mine
with mine.get_tracer("program").start_as_current_span("mine"): pass
"""
    done = process(code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert names_in(tmp_path / "traces") == ["mine"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_loses_its_open_spans_only(tmp_path):
    """Calls that ended a moment before the kill are in the file, whole."""
    code = """
import signal, pathlib
handle = telemetry.configure(traces_dir="traces")
run = tracing.start_run("triage")
for number in range(20):
    call(run, f"tool{number}")
open_call = run.start_call("open", service="open")
folder = pathlib.Path("traces")
while sum(path.read_text().count('"execute_tool ') for path in folder.glob("*.jsonl")) < 20:
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert process(code, tmp_path).returncode == -signal.SIGKILL
    assert names_in(tmp_path / "traces") == sorted(f"execute_tool tool{number}" for number in range(20))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_many_processes_write_to_one_folder(tmp_path):
    """Forked workers, which leave without exit handlers, each have a file, and every line is whole."""
    code = """
import multiprocessing, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of forking while a thread runs: that is what is tried here
telemetry.configure(traces_dir="traces")
def work(name):
    run = tracing.start_run(name)
    for _ in range(50): call(run)
    end(run)
work("parent")
workers = [multiprocessing.get_context("fork").Process(target=work, args=(f"worker{n}",)) for n in range(3)]
for worker in workers: worker.start()
for worker in workers: worker.join()
sys.exit(max(worker.exitcode for worker in workers))
"""
    done = process(
        code.replace("import multi", "import warnings; warnings.simplefilter('ignore')\nimport multi"), tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list((tmp_path / "traces").glob("*.jsonl"))) == 4
    names = names_in(tmp_path / "traces")
    assert names.count("execute_tool search") == 200
    assert [name for name in names if name.startswith("invoke")] == [
        "invoke_agent parent",
        *(f"invoke_agent worker{number}" for number in range(3)),
    ]


def test_an_unwritable_folder_changes_nothing_for_the_program(tmp_path):
    """A path that cannot be a folder costs the telemetry, one warning, and neither time nor exit code."""
    (tmp_path / "traces").write_text("a file")
    code = """
handle = telemetry.configure(traces_dir="traces")
run = tracing.start_run("triage"); call(run); end(run)
handle.shutdown()
print(handle.dropped)
"""
    done = process(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "{'shutdown': 2}\n")
    assert done.stderr.count("telemetry cannot be written") == 1
    assert "Traceback" not in done.stderr


def test_a_disabled_sdk_is_left_alone(tmp_path, monkeypatch):
    """OTEL_SDK_DISABLED means nothing at all."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    telemetry = configure(traces_dir=tmp_path / "traces")
    assert (telemetry.destination, telemetry.tracer_provider) == ("disabled", None)
    assert telemetry.flush()
    telemetry.shutdown()
    assert not (tmp_path / "traces").exists()


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, "grpc"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, "http"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, "http"),
        ({"OTEL_TRACES_EXPORTER": "otlp_proto_http"}, "http"),
    ],
)
def test_the_environment_chooses_otlp(monkeypatch, environment, exporter):
    """The standard variables choose the standard exporter, its protocol included."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    telemetry = configure("triage", set_global=False)
    assert telemetry.destination == environment.get("OTEL_TRACES_EXPORTER", "otlp")
    inner = telemetry._exporters[0]._exporter
    assert f".{exporter}." in type(inner).__module__
    telemetry.shutdown()


def test_metrics_and_logs_follow_the_traces(monkeypatch):
    """With OTLP there is a meter provider, and a logger provider if events are log records."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "console")
    monkeypatch.setenv("OTEL_LOGS_EXPORTER", "console")
    telemetry = configure(event_signal="logs", set_global=False)
    assert telemetry.meter_provider is not None
    assert telemetry.logger_provider is not None
    telemetry.shutdown()


def test_a_declarative_configuration_file_decides(tmp_path):
    """OTEL_CONFIG_FILE sets up the SDK; no trace files are written beside it, and the handle ends it."""
    (tmp_path / "otel.yaml").write_text(
        'file_format: "1.0"\ntracer_provider: {processors: [{simple: {exporter: {console: {}}}}]}\n'
    )
    code = """
with telemetry.configure() as handle:
    end(tracing.start_run("triage"))
    assert handle.flush() and handle.destination == "otel.yaml"
    assert telemetry.configure().tracer_provider is handle.tracer_provider
"""
    done = process(code, tmp_path, OTEL_CONFIG_FILE="otel.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"name": "invoke_agent triage"' in done.stdout
    assert not (tmp_path / ".toolerrors").exists()


def test_a_declarative_configuration_without_its_package_names_it(monkeypatch):
    """Who names a file but cannot read it is told what to install."""
    monkeypatch.setenv("OTEL_CONFIG_FILE", "otel.yaml")
    monkeypatch.setitem(sys.modules, "opentelemetry.configuration", None)
    with pytest.raises(ImportError, match="pip install opentelemetry-configuration"):
        configure()


def test_no_exporter_is_an_answer_too(monkeypatch):
    """OTEL_TRACES_EXPORTER=none makes spans that go nowhere, and no files."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    telemetry = configure(set_global=False)
    assert telemetry.destination == "none"
    telemetry.shutdown()


def test_spans_that_an_endpoint_does_not_take_are_counted(monkeypatch, call_span):
    """An endpoint that refuses connections costs the spans, and they are counted."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.05")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    telemetry = configure(set_global=False)
    tracing = Tracing(telemetry.tracer_provider)
    tracing.start_run(None).start_call("search", service="search-api").end(call_span(), ok=True)
    telemetry.shutdown()
    assert telemetry.dropped == {"export_failed": 1}


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"OTEL_TRACES_EXPORTER": "carrier_pigeon"}, "OTEL_TRACES_EXPORTER names 'carrier_pigeon'"),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "smoke"},
            "OTLP protocol 'smoke' is none of grpc, http/protobuf",
        ),
    ],
)
def test_what_does_not_exist_is_named(monkeypatch, environment, message):
    """A wrong word in the environment is an error that names it."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=message):
        configure(set_global=False)


def test_a_missing_exporter_names_the_extra(monkeypatch):
    """Who asks for OTLP without its exporter is told what to install."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("otel_toolerrors.telemetry.pipelines.entry_points", lambda **_: ())
    with pytest.raises(ImportError, match=r"otel-toolerrors\[otlp\]"):
        configure(set_global=False)


def test_a_missing_sdk_names_the_extra(monkeypatch):
    """Who has the API alone is told what to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(ImportError, match=r"otel-toolerrors\[otlp\]"):
        configure(set_global=False)


def test_an_unknown_event_signal_is_named():
    """A typing error in the argument does not pass."""
    with pytest.raises(ValueError, match="'span', 'logs' or 'both', not 'spans'"):
        configure(event_signal="spans", set_global=False)
