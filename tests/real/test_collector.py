import json
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Status, StatusCode

from tests.real.conftest import Stack, attributes_of, recorded
from tests.real.parts import Collector, Jaeger, eventually, free_ports

pytestmark = pytest.mark.real

CALL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}


class SeededIds(IdGenerator):
    """The same ids in every run: sampling by trace id decides the same way."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def generate_trace_id(self) -> int:
        return self._random.getrandbits(128)

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64)


@pytest.fixture
def provider() -> Callable[[str], TracerProvider]:
    """SDKs that send their spans to a collector."""
    seeds = count()

    def to(endpoint: str) -> TracerProvider:
        made = TracerProvider(resource=Resource.create({"service.name": "raw"}), id_generator=SeededIds(next(seeds)))
        exporter = OTLPSpanExporter(endpoint=f"http://{endpoint}", insecure=True)
        made.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=100))
        return made

    return to


def test_every_call_is_recorded_as_it_was_answered(stack: Stack):
    """One span for each logical call, before sampling, with the outcome that the caller saw."""
    seen = {"ok": "ok", "recovered": "ok", "degraded": "degraded"}
    outcomes = Counter(
        (attributes["gen_ai.tool.name"], seen.get(attributes["toolerrors.outcome"], attributes["toolerrors.outcome"]))
        for attributes in map(attributes_of, recorded(stack.collector.traces, "execute_tool"))
    )
    assert Counter((call["tool"], call["outcome"]) for call in stack.outcomes) == outcomes


def test_a_line_is_an_otlp_export_request(stack: Stack):
    """The file exporter writes one JSON document a line, with camelCase keys and hexadecimal ids."""
    path = stack.collector.traces / "traces.jsonl"
    for line in path.read_text().splitlines():
        assert list(json.loads(line)) == ["resourceSpans"]
    span = recorded(stack.collector.traces, "execute_tool")[0]
    assert len(bytes.fromhex(span["traceId"])) == 16
    assert len(bytes.fromhex(span["spanId"])) == 8
    assert int(span["endTimeUnixNano"]) >= int(span["startTimeUnixNano"])


def test_no_secret_gets_as_far_as_the_file(stack: Stack):
    """The token in a tool's error text is gone."""
    text = (stack.collector.traces / "traces.jsonl").read_text()
    assert "after the message to ada was sent" in text
    assert "abcdefghijklmnop0123456789" not in text


def test_the_collector_redacts_what_others_let_through(
    provider: Callable[[str], TracerProvider], start: Callable[[Collector], Collector], tmp_path: Path
):
    """Secrets by name and by form are masked in spans and events, prompts and arguments are removed, values bounded."""
    collector = start(Collector(tmp_path))
    spans = provider(collector.grpc)
    secrets = ["Bearer abcdefghijklmnop", "sk-abcdefghijklmnopqrstuv", "AKIAABCDEFGHIJKLMNOP", "hunter2"]
    tracer = spans.get_tracer("t")
    leaky = {f"note.{number}": f"got {secret}" for number, secret in enumerate(secrets[:3])}
    leaky |= {"db.password": secrets[3], "X-Api-Key": secrets[3], "long": "x" * 10_000}
    leaky |= {"gen_ai.tool.call.arguments": "{}", "gen_ai.input.messages": "[]"}
    tracer.start_span("execute_tool plain", attributes=CALL | leaky).end()
    with tracer.start_as_current_span("execute_tool eventful", attributes=CALL | leaky) as span:
        span.add_event("exception", {"exception.message": f"refused {secrets[0]}", "long": "x" * 10_000})
    spans.shutdown()
    eventually(lambda: len(recorded(collector.traces)) == 2, "both spans are recorded")
    for found in recorded(collector.traces):
        for secret in secrets:
            assert secret not in json.dumps(found)
        for entry in [found, *found.get("events", [])]:
            assert len(attributes_of(entry)["long"]) == 4096
        attributes = attributes_of(found)
        assert attributes["gen_ai.tool.name"] == "search"
        assert not {"gen_ai.tool.call.arguments", "gen_ai.input.messages"} & attributes.keys()


def test_a_made_up_tool_name_is_no_label(
    provider: Callable[[str], TracerProvider], start: Callable[[Collector], Collector], tmp_path: Path
):
    """What is derived from a span with a collapsed name has the label collapsed too; the record keeps the name."""
    collector = start(Collector(tmp_path))
    spans = provider(collector.grpc)
    made_up = CALL | {"gen_ai.tool.name": "made_up"}
    for name in ("execute_tool unknown", "attempt unknown"):
        spans.get_tracer("t").start_span(name, attributes=made_up).end()
    span = spans.get_tracer("t").start_span("execute_tool unknown", attributes=made_up)
    span.add_event("toolerrors.retry.refused", made_up | {"toolerrors.retry.reason": "run", "toolerrors.code": "x"})
    span.end()
    spans.shutdown()
    derived = eventually(
        lambda: text if "refused_total" in (text := httpx.get(f"http://{collector.derived}/metrics").text) else "",
        "the event is counted",
    )
    assert "made_up" not in derived
    assert 'gen_ai_tool_name="unknown"' in derived
    assert {"made_up"} == {attributes_of(span)["gen_ai.tool.name"] for span in recorded(collector.traces)}


def test_sampling_keeps_what_tells_something_and_a_tenth_of_the_rest(
    provider: Callable[[str], TracerProvider], start: Callable[[Collector | Jaeger], Collector | Jaeger], tmp_path: Path
):
    """Failed, repeated, recovered and decided traces all reach Jaeger; ordinary ones are thinned; the file has all."""
    (tmp_path / "jaeger").mkdir()
    jaeger = Jaeger(tmp_path / "jaeger")
    start(jaeger)
    collector = Collector(tmp_path, JAEGER_ENDPOINT=jaeger.otlp)
    start(collector)
    spans = provider(collector.grpc)
    tracer = spans.get_tracer("t")
    ordinary = 600
    for _ in range(ordinary):
        tracer.start_span("execute_tool ordinary", attributes=CALL | {"toolerrors.outcome": "ok"}).end()
    tracer.start_span("execute_tool recovered", attributes=CALL | {"toolerrors.outcome": "recovered"}).end()
    tracer.start_span("execute_tool repeated", attributes=CALL | {"toolerrors.attempts": 2}).end()
    failed = tracer.start_span("execute_tool failed", attributes=CALL)
    failed.set_status(Status(StatusCode.ERROR))
    failed.end()
    decided = tracer.start_span("execute_tool decided", attributes=CALL)
    decided.add_event("toolerrors.retry.refused")
    decided.end()
    spans.shutdown()
    eventually(lambda: len(recorded(collector.traces)) == ordinary + 4, "the file has every span")
    telling = {"execute_tool recovered", "execute_tool repeated", "execute_tool failed", "execute_tool decided"}
    eventually(
        lambda: telling <= {span["name"] for span in jaeger.spans("raw")}, "Jaeger has every trace that tells something"
    )
    kept = Counter(span["name"] for span in jaeger.spans("raw"))
    assert 0.05 * ordinary < kept["execute_tool ordinary"] < 0.15 * ordinary


def test_the_spans_of_a_trace_meet_at_one_gateway(
    provider: Callable[[str], TracerProvider], start: Callable[[Collector], Collector], tmp_path: Path
):
    """Two gateways share the traces; parent and child go in through different ones and come out at the same."""
    ports = free_ports(2)
    peers = {f"GATEWAY_{number}": f"127.0.0.1:{port}" for number, port in enumerate(ports)}
    gateways = []
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        own = {"PEER_ENDPOINT": peers[f"GATEWAY_{number}"]}
        gateways.append(start(Collector(tmp_path / str(number), "gateway.yaml", **peers, **own)))
    one, other = provider(gateways[0].grpc), provider(gateways[1].grpc)
    traces = 100
    for _ in range(traces):
        with one.get_tracer("t").start_as_current_span("invoke_agent triage"):
            other.get_tracer("t").start_span("execute_tool search", attributes=CALL).end()
    one.shutdown()
    other.shutdown()
    eventually(
        lambda: sum(len(recorded(gateway.traces)) for gateway in gateways) == 2 * traces, "every span is recorded once"
    )
    owned = [Counter(span["traceId"] for span in recorded(gateway.traces)) for gateway in gateways]
    assert not owned[0].keys() & owned[1].keys()
    assert set((owned[0] | owned[1]).values()) == {2}
    assert all(0.25 * traces < len(part) < 0.75 * traces for part in owned)
