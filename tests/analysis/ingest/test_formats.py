"""Every framing and compression gives the same rows as plain lines."""

import base64
import gzip
import json
import struct

import pytest

from otel_toolerrors import analysis

from .otlp_lines import event, fault, line, request, span

SPANS = [span(number, {"k": number}, events=[event(fault(attempt=number + 1))]) for number in range(6)]
LINES = b"".join(line(one) for one in SPANS)
COLUMNS = 'trace_id, span_id, name, kind, start_ns, end_ns, status, "service.name", attributes'


def prefixed(*messages: bytes) -> bytes:
    """Write messages as the collector's file exporter does where lines will not do."""
    return b"".join(struct.pack(">I", len(message)) + message for message in messages)


def zstd(content: bytes) -> bytes:
    """Compress as the collector does, or skip."""
    zstandard = pytest.importorskip("zstandard", reason="needs zstandard, of the extra `analysis`")
    return zstandard.ZstdCompressor().compress(content)


def protobuf(*spans: dict) -> bytes:
    """Encode spans as an OTLP protobuf request, with OpenTelemetry's own messages."""
    trace_pb2 = pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2", reason="needs opentelemetry-proto")
    json_format = pytest.importorskip("google.protobuf.json_format")
    content = json_format.ParseDict(_base64_ids(request(*spans)), trace_pb2.TracesData())
    return content.SerializeToString()


def _base64_ids(node):
    if isinstance(node, list):
        return [_base64_ids(item) for item in node]
    if not isinstance(node, dict):
        return node
    ids = ("traceId", "spanId", "parentSpanId")
    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in ids else _base64_ids(v) for k, v in node.items()}


def snake(node):
    """Spell the fields as protobuf does."""
    if isinstance(node, list):
        return [snake(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {"".join("_" + c.lower() if c.isupper() else c for c in key): snake(value) for key, value in node.items()}


FORMATS = {
    "lines": lambda: LINES,
    "gzip": lambda: gzip.compress(LINES),
    "gzip in two members": lambda: gzip.compress(line(*SPANS[:3])) + gzip.compress(line(*SPANS[3:])),
    "zstd": lambda: zstd(LINES),
    "zstd in two frames": lambda: zstd(line(*SPANS[:3])) + zstd(line(*SPANS[3:])),
    "length-prefixed JSON": lambda: prefixed(*LINES.splitlines()),
    "length-prefixed zstd of JSON": lambda: prefixed(*map(zstd, LINES.splitlines())),
    "length-prefixed protobuf": lambda: prefixed(*(protobuf(one) for one in SPANS)),
    "length-prefixed zstd of protobuf": lambda: prefixed(*(zstd(protobuf(one)) for one in SPANS)),
    "length-prefixed, gzipped": lambda: gzip.compress(prefixed(*LINES.splitlines())),
    "one protobuf message": lambda: protobuf(*SPANS),
    "a pretty-printed document": lambda: json.dumps(request(*SPANS), indent=2).encode(),
    "a list of requests": lambda: json.dumps([request(one) for one in SPANS]).encode(),
    "an answer of Jaeger's API": lambda: json.dumps({"result": request(*SPANS)}).encode(),
    "an answer of Tempo's API": lambda: json.dumps({"trace": request(*SPANS)}).encode(),
    "an answer of Tempo's first API": lambda: json.dumps({"batches": request(*SPANS)["resourceSpans"]}).encode(),
    "protobuf's own JSON": lambda: json.dumps(_base64_ids(request(*SPANS))).encode(),
    "protobuf's field names": lambda: json.dumps(snake(request(*SPANS))).encode(),
    "upper-case ids": lambda: LINES.replace(SPANS[0]["traceId"].encode(), SPANS[0]["traceId"].upper().encode()),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What plain lines give."""
    path = tmp_path_factory.mktemp("expected") / "traces.jsonl"
    path.write_bytes(LINES)
    with analysis.open(path) as traces:
        return rows(traces)


def rows(traces):
    """Spans and events, as rows."""
    return (
        traces.sql(f"SELECT {COLUMNS} FROM spans ORDER BY span_id").fetchall(),  # noqa: S608
        traces.sql("SELECT * FROM span_events ORDER BY span_id").fetchall(),
    )


@pytest.mark.parametrize("name", FORMATS)
def test_the_framing_does_not_matter(name, load, expected):
    """What a file is, its content tells; its name does not."""
    traces = load(FORMATS[name](), name="traces.dat")
    assert expected == rows(traces)
    assert 0 == traces.ingested.quarantined


def test_a_gzip_file_cut_short_gives_what_it_has(load):
    """The lines before the damage are read, and the damage is told."""
    content = b"".join(line(span(number, {"pad": f"{number * 7919 % 1000003}" * 40})) for number in range(3_000))
    traces = load(gzip.compress(content)[:-100], name="traces.jsonl.gz")
    assert 2_900 < traces.ingested.spans < 3_000
    ((reason,),) = traces.sql("SELECT reason FROM quarantine").fetchall()
    assert "cut short" in reason


def test_a_damaged_message_costs_itself(load):
    """Messages before and after it are read; the damaged one is told by number and offset."""
    messages = [zstd(part) for part in LINES.splitlines()]
    content = prefixed(*messages[:2], b"\x28\xb5\x2f\xfd damaged", *messages[2:])
    traces = load(content, name="traces.json.zst")
    assert 6 == traces.ingested.spans
    offset = len(prefixed(*messages[:2]))
    ((number, at, reason),) = traces.sql('SELECT line, "offset", reason FROM quarantine').fetchall()
    assert (3, offset) == (number, at)
    assert "zstd" in reason


def test_a_torn_last_message_is_told_until_it_is_whole(tmp_path, open_traces):
    """A framed file that is still being written is resumed at a message's start."""
    whole = prefixed(*LINES.splitlines())
    path, database = tmp_path / "traces.bin", tmp_path / "kept.duckdb"
    path.write_bytes(whole[:-50])
    first = open_traces(path, database=database)
    first.close()
    path.write_bytes(whole)
    second = open_traces(path, database=database)
    assert (5, 1) == (first.ingested.spans, first.ingested.quarantined)
    assert (1, 0) == (second.ingested.spans, second.ingested.duplicates)
    assert [(0,)] == second.sql("SELECT count(*) FROM quarantine").fetchall()


def test_protobuf_of_logs_gives_their_events(load):
    """A log request in protobuf is told from a trace request by what is in it."""
    logs_pb2 = pytest.importorskip("opentelemetry.proto.logs.v1.logs_pb2", reason="needs opentelemetry-proto")
    data = logs_pb2.LogsData()
    record = data.resource_logs.add().scope_logs.add().log_records.add()
    record.time_unix_nano, record.event_name = 5, "toolerrors.run.stopped"
    record.trace_id, record.span_id = b"a" * 16, b"b" * 8
    traces = load(prefixed(data.SerializeToString()), name="logs.pb")
    assert [("toolerrors.run.stopped", "log", 5)] == traces.sql(
        "SELECT name, signal, ts_ns FROM span_events"
    ).fetchall()
