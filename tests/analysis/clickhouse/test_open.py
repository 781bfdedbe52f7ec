"""Addresses, what is in the tables, and what goes wrong."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from chdb.session import Session

from otel_toolerrors import analysis
from otel_toolerrors.analysis import TraceSourceError
from tests.analysis.ingest.otlp_lines import attempt_record, attributes, call_record, event, fault, hex_id, line, span


def test_copies_of_a_span_count_once(both):
    """An exporter that sends a batch again does not double the calls."""
    sent = line(span(1, call_record(), name="execute_tool search"))
    assert [[("search",)]] * 2 == [traces.sql("SELECT tool FROM calls").fetchall() for traces in both(sent, sent)]


def test_an_event_that_came_twice_counts_once(both):
    """As a span event and as a log record, by the way of the logs table."""
    values = attributes({"toolerrors.fault.category": "transient"})
    record = {
        "traceId": hex_id(0, 32), "spanId": hex_id(1, 16), "timeUnixNano": str(1_790_000_000_500_000_000),
        "eventName": fault().NAME, "attributes": values,
    }  # fmt: skip
    logs = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode() + b"\n"
    spans = line(span(1, call_record(outcome="surfaced"), name="execute_tool search", events=[event(fault())]))

    for traces in both(spans, logs):
        assert [("log",), ("span",)] == traces.sql("SELECT signal FROM span_events ORDER BY signal").fetchall()
        assert [("f1",)] == traces.sql("SELECT fingerprint FROM faults").fetchall()


def test_calls_of_other_instrumentations_are_equal(both):
    """Their names, digests of arguments and fingerprints are worked out alike."""
    values = {"traceloop.span.kind": "tool", "traceloop.entity.input": "{}"}
    status = {"code": 2, "message": "timeout after 5 s (request 1a2b3c4d5e)"}
    told = event(
        "exception", {"exception.type": "TimeoutError", "exception.message": "no answer from 10.0.0.7"}, at=0.5
    )
    duck, click = both(
        line(span(1, values, name="weather.tool", status=status, events=[told])),
        line(span(2, values, name="weather.tool", status=status, start=1)),
    )
    query = "SELECT tool, arguments, outcome, instrumentation FROM calls ORDER BY span_id"
    faults = "SELECT tool, code, message, fingerprint, exception_type FROM faults ORDER BY span_id"

    assert [("weather", "surfaced")] * 2 == [row[::2] for row in click.sql(query).fetchall()]
    for asked in (query, faults):
        assert duck.sql(asked).fetchall() == click.sql(asked).fetchall()


def test_a_window_of_time(stored, tmp_path):
    """Only spans that began in it are looked at."""
    file = tmp_path / "window.jsonl"
    file.write_bytes(b"".join(line(span(n, call_record(), start=60.0 * n)) for n in range(3)))
    address = f"{stored(file)}&since=2026-09-21T14:14:00Z&until=2026-09-21T16:15:00%2B02:00"
    with analysis.open(address) as traces:
        assert [(hex_id(1, 16),)] == traces.sql("SELECT span_id FROM calls").fetchall()
        assert 1 == traces.ingested.spans


def test_export_and_read_again(both, tmp_path):
    """A window can be taken along, and looked at without the server."""
    _, click = both(
        line(span(1, call_record(outcome="recovered", attempts=2), name="execute_tool search")),
        line(span(2, attempt_record(category="transient"), parent=1, name="attempt search", events=[event(fault())])),
    )
    click.export(tmp_path / "taken")
    with analysis.open(tmp_path / "taken") as taken:
        for query in ("SELECT span_id, attempts, start FROM calls", "SELECT call_span_id, ts, message FROM faults"):
            assert click.sql(query).fetchall() == taken.sql(query).fetchall()


class _Front(BaseHTTPRequestHandler):
    """A fake of the server's HTTP interface, with the real engine behind it: no package brings the server itself."""

    session: Session
    seen: list[dict[str, str]]

    def do_POST(self):
        arguments = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        self.seen.append(arguments | {"user": self.headers["X-ClickHouse-User"]})
        query = self.rfile.read(int(self.headers["Content-Length"])).decode()
        params = {name.removeprefix("param_"): v for name, v in arguments.items() if name.startswith("param_")}
        try:
            answer, status = self.session.query(query, arguments["default_format"], params=params).bytes(), 200
        except RuntimeError as error:
            answer, status = str(error).encode(), 500
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Keep quiet."""


@pytest.fixture
def served(stored, tmp_path):
    """Serve stored traces, and tell the port and what was asked."""
    file = tmp_path / "served.jsonl"
    file.write_bytes(line(span(1, call_record(), name="execute_tool search")))
    _Front.session = Session(urlsplit(stored(file)).path)
    _Front.session.query("USE otel")
    _Front.seen = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Front) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, _Front.seen
        server.shutdown()
        thread.join()
    _Front.session.close()


def test_a_server(served):
    """Everything is asked within one session, in the database of the address, with values apart from the text."""
    port, seen = served
    with analysis.open(f"clickhouse://reader:secret@127.0.0.1:{port}/otel") as traces:
        assert [("search",)] == traces.sql("SELECT tool FROM calls WHERE tool = ?", ["search"]).fetchall()
        assert [] == traces.findings()

    assert {("otel", "reader")} == {(asked["database"], asked["user"]) for asked in seen}
    assert 1 == len({asked["session_id"] for asked in seen})
    assert "search" in {asked.get("param_p0") for asked in seen}


def test_a_refusal_tells_the_place_and_no_password(served):
    """The server's own words, and where they came from."""
    port, _ = served
    with (
        analysis.open(f"clickhouse://reader:secret@127.0.0.1:{port}/otel") as traces,
        pytest.raises(TraceSourceError, match=rf"clickhouse://127.0.0.1:{port}: refused: .*nowhere") as caught,
    ):
        traces.sql("SELECT * FROM nowhere")
    assert "secret" not in str(caught.value)


WRONG = {
    "clickhouse:///otel": "names no host",
    "clickhouse://127.0.0.1:1/otel": "no answer",
    "clickhouse://h/otel?limit=5": "limit: unknown in an address",
    "clickhouse://h/otel?since=yesterday": "since=yesterday: not a time",
    "clickhouse://h/otel?since=2026-11-21T08:00:00": "has no time zone",
    "chdb:///no/such/folder": "no such folder",
}


@pytest.mark.parametrize(("address", "told"), WRONG.items())
def test_wrong_addresses(address, told):
    """What cannot be opened is refused with the reason."""
    with pytest.raises(TraceSourceError, match=told):
        analysis.open(address)


def test_a_missing_table_is_named(served):
    """The error says which table it looked for, and how to name another."""
    port, _ = served
    with pytest.raises(TraceSourceError, match=r"has no table spans_of_us.*traces="):
        analysis.open(f"clickhouse://127.0.0.1:{port}/otel?traces=spans_of_us")


def test_limits_are_the_servers_own():
    """Limits that would not hold are not taken in silence."""
    with pytest.raises(TraceSourceError, match="limits of its own"):
        analysis.open("clickhouse://h/otel", memory_limit="1GB")
