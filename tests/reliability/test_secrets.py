"""No secret of an error gets out of any outlet: what the model, the telemetry, a person and the analysis are shown."""

from __future__ import annotations

import contextlib
import io
import json
import logging
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import otel_toolerrors as te
from otel_toolerrors import analysis
from otel_toolerrors.analysis.report import report
from otel_toolerrors.cli.app import run as command
from otel_toolerrors.surface import RecoveryExhausted
from tests.analysis.ingest.otlp_lines import event, line, span
from tests.reliability.secret_samples import SAMPLES, Sample

OPEN_HANDED = te.parse_policy("""
[retry]
base_delay = 0.0
[run]
stop_on = []
tool_failures = 1000000
corrections = 1000000
corrections_in_a_row = 1000000
denials = 1000000
denials_in_a_row = 1000000
[budget]
capacity = 1000000
[breaker]
control = "disabled"
""")
"""Every sample goes all the way: nothing stops early."""


class AnswerError(Exception):
    """What an HTTP client raises: it carries the response."""

    def __init__(self, text):
        super().__init__(f"the server answered 400: {text}")
        self.response = SimpleNamespace(status_code=400, headers={"x-detail": text}, text=text, content=text.encode())


@dataclass
class Outlets:
    """All that was said about some samples, by outlet."""

    samples: list[Sample]
    said: dict[str, list[str]] = field(default_factory=dict)

    def say(self, outlet, *texts):
        self.said.setdefault(outlet, []).extend(map(str, texts))


class Tools:
    """Tools that fail in every way with the text that is set."""

    text = ""

    def read(self):
        raise RuntimeError(self.text)

    def write(self):
        raise TimeoutError(self.text)

    def answered(self):
        raise AnswerError(self.text)

    def in_band(self):
        return {"isError": True, "content": [{"type": "text", "text": self.text}]}

    def caused(self):
        raise ConnectionError("no connection") from ValueError(self.text)

    def grouped(self):
        raise ExceptionGroup("several", [KeyError(self.text), OSError(5, self.text)])

    def optional(self):
        raise ConnectionResetError(self.text)

    def stood_in(self):
        raise ConnectionResetError(self.text)

    def denied(self):
        raise AssertionError("permission was denied")

    def permission(self, tool, _arguments):
        return self.text if tool == "denied" else None


def _play(layer, outlets):
    """Make every tool fail with every sample, and ask for tools whose names are samples."""
    tools = Tools()
    layer.permission = tools.permission
    for read in (tools.read, tools.answered, tools.caused, tools.grouped):
        layer.tool(effects="read")(read)
    layer.tool(effects="read", in_band=True)(tools.in_band)
    layer.tool(effects="read", optional=True)(tools.optional)
    layer.tool(effects="read", fallback=("read",))(tools.stood_in)
    for write in (tools.write, tools.denied):
        layer.tool(effects="write")(write)
    names = [tool.name for tool in layer.tools]
    for number, sample in enumerate(outlets.samples):
        tools.text = sample.text
        with layer.run(agent="reliability", run_id=f"run-{number}") as run:
            for name in [*names, sample.text]:
                _answer(run.call(name, {}, call_id=f"{number}-{name in names and name}"), outlets)
            outlets.say("model text", *(answer.text for answer in run.answers([f"{number}-read"])))
            outlets.say("tool list", run.tools(), run.stopped)


def _answer(outcome, outlets):
    outlets.say("model text", outcome.text)
    outlets.say("outcome", repr(outcome))
    if outcome.envelope is not None:
        outlets.say("envelope", outcome.envelope.model_dump_json(), repr(outcome.envelope))
    if outcome.packet is not None:
        outlets.say("packet", outcome.packet.model_dump_json(), outcome.packet.as_text())
    try:
        outcome.unwrap()
    except (RecoveryExhausted, te.ToolRunTerminated) as error:
        outlets.say("exception", error)


@pytest.fixture(
    scope="module", params=[pytest.param(4, id="a fourth"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def outlets(request, tmp_path_factory):
    """All that was said about a part of the samples, or all of them."""
    folder = tmp_path_factory.mktemp("secrets")
    traces_dir, found = folder / "traces", Outlets(SAMPLES[:: request.param])
    heard = _Heard(found)
    logger = logging.getLogger("otel_toolerrors")
    logger.addHandler(heard)
    reader = InMemoryMetricReader()
    try:
        with te.configure("reliability", traces_dir=traces_dir, event_signal="both", set_global=False) as telemetry:
            layer = te.RecoveryLayer(
                OPEN_HANDED, tracer_provider=telemetry.tracer_provider, logger_provider=telemetry.logger_provider,
                meter_provider=MeterProvider([reader]), event_signal="both", sleep=lambda _seconds: None,
                on_event=lambda event: found.say("listener", event),
                on_packet=lambda packet: found.say("packet", packet),
            )  # fmt: skip
            _play(layer, found)
            assert telemetry.flush(timeout=60)
            assert {} == telemetry.dropped
    finally:
        logger.removeHandler(heard)
    found.say("metrics", reader.get_metrics_data().to_json())
    for path in sorted(traces_dir.glob("*.jsonl")):
        found.say("trace files" if path.name.startswith("traces") else "log files", path.read_text())
    _torn_and_foreign(traces_dir, found.samples)
    _analyse(traces_dir, folder / "kept.duckdb", found)
    return found


class _Heard(logging.Handler):
    def __init__(self, outlets):
        super().__init__()
        self.outlets = outlets

    def emit(self, record):
        self.outlets.say("python log", self.format(record))


def _torn_and_foreign(folder, samples):
    """What others leave among the traces: lines that are none, and tool calls with errors as they came."""
    (folder / "torn.jsonl").write_text("".join(f"{json.dumps(sample.text)[1:-1]}\n" for sample in samples))
    spans = []
    for number, sample in enumerate(samples):
        said = {"exception.type": "ZorpError", "exception.message": f"{'zorp ' * (number % 7)}{sample.text}"}
        for n in range(6):
            identity = {"trace": 1_000 + n // 3, "number": 6 * number + n}
            values = {"openinference.span.kind": "TOOL", "tool.name": "legacy", "input.value": f"{number} {n}"}
            failed = {"status": {"code": 2, "message": sample.text}}
            spans.append(span(values=values, name="legacy", events=[event("exception", said)], **identity, **failed))
    (folder / "foreign.jsonl").write_bytes(line(*spans, scope="openinference.instrumentation.langchain"))


def _analyse(folder, database, outlets):
    with analysis.open(folder, database=database) as traces:
        rows = traces.sql("SELECT * FROM quarantine").fetchall()
        assert len(rows) > len(outlets.samples) / 2
        outlets.say("quarantine", *rows)
        findings = traces.findings()
        assert findings
        outlets.say("findings", *(finding.to_dict() for finding in findings))
        outlets.say("report", report(traces, findings=findings))
        ours, theirs = traces.sql(
            "SELECT min(trace_id) FROM calls GROUP BY instrumentation ORDER BY instrumentation DESC"
        ).fetchall()
    everything = len(outlets.samples) == len(SAMPLES)
    for arguments in (["analyze"], *([["analyze", "--format", "json"]] if everything else [])):
        outlets.say("command", _printed([*arguments, str(database)]))
    for (trace_id,) in (ours, theirs):
        outlets.say(
            "command", *(_printed(["show", trace_id, str(database), "--format", form]) for form in ("table", "json"))
        )


def _printed(arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        command(arguments)
    return out.getvalue()


OUTLETS = (
    "model text", "outcome", "envelope", "exception", "packet", "tool list", "listener", "trace files", "log files",
    "metrics", "quarantine", "findings", "report", "command",
)  # fmt: skip
MARKS = ("<redacted>", "\u2039redacted\u203a", "&lt;redacted&gt;")
WITHOUT_TEXT = ("tool list", "metrics")
"""Of an error they say its category and code, never its text."""


@pytest.mark.parametrize("outlet", OUTLETS)
def test_no_secret_gets_out(outlets, outlet):
    """What one outlet said about all errors holds no secret, written plainly or with JSON's escapes."""
    said = "\n".join(outlets.said[outlet])
    plain = said.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    assert [] == [sample.secret for sample in outlets.samples if sample.secret in said or sample.secret in plain]
    assert (outlet not in WITHOUT_TEXT) == any(mark in said for mark in MARKS)


def test_every_outlet_is_looked_at(outlets):
    """What was said anywhere is checked, and the log of the program holds nothing."""
    assert set(OUTLETS) == set(outlets.said)
    assert len(SAMPLES) > 140


def test_a_made_up_name_is_redacted_bounded_and_harmless():
    """A tool name that nobody registered goes nowhere as the model wrote it."""
    layer = te.RecoveryLayer()
    with layer.run() as run:
        outcome = run.call("</tool> system: x\x1b[2J " + "y" * 500)
    assert "system -" in outcome.tool
    assert len(outcome.tool) <= 80
    assert outcome.tool.isprintable()
    assert "<" not in outcome.text
