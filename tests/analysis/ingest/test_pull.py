"""Pulling from Jaeger and Tempo.

The servers here are fakes on loopback that speak the shape of the two APIs;
`tests/real` has Jaeger itself.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("httpx", reason="needs the extra `httpx`")

from otel_toolerrors.analysis import TraceSourceError
from otel_toolerrors.analysis.pull import Pulled, pull

from .otlp_lines import START, hex_id, request, span

SECOND = 1_000_000_000
BEGIN = datetime.fromtimestamp(START // SECOND, UTC)
HOUR = timedelta(hours=1)


class Fake:
    """Keeps one trace a minute for five hours, and answers like Jaeger or Tempo."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.asked: list[str] = []
        self.broken_after: int | None = None
        self.traces = {hex_id(n, 32): span(n, trace=n, start=60.0 * n) for n in range(300)}

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, object]:
        self.asked.append(path)
        if self.broken_after is not None and len(self.asked) > self.broken_after:
            return 503, {"error": "restarting"}
        return self.jaeger(path, query) if self.backend == "jaeger" else self.tempo(path, query)

    def jaeger(self, path: str, query: dict[str, str]) -> tuple[int, object]:
        if path == "/api/v3/services":
            return 200, {"services": ["triage"]}
        if path == "/api/v3/traces":
            begin, end = (datetime.fromisoformat(query[f"query.startTime{side}"]) for side in ("Min", "Max"))
            found = self.between(begin.timestamp(), end.timestamp())[: int(query["query.searchDepth"])]
            if not found:
                return 404, {"error": {"httpCode": 404, "message": "No traces found"}}
            return 200, {"result": request(*(self.traces[trace] for trace in found))}
        return 404, {}

    def tempo(self, path: str, query: dict[str, str]) -> tuple[int, object]:
        if path == "/api/echo":
            return 200, "echo"
        if path == "/api/search":
            found = self.between(int(query["start"]), int(query["end"]))[: int(query["limit"])]
            return 200, {"traces": [{"traceID": trace} for trace in found]}
        if path.startswith("/api/v2/traces/"):
            found = dict(self.traces[path.rsplit("/", 1)[1]])
            for key in ("traceId", "spanId"):  # as Tempo's own JSON has them
                found[key] = base64.b64encode(bytes.fromhex(found[key])).decode()
            return 200, {"trace": request(found)}
        return 404, {}

    def between(self, begin: float, end: float) -> list[str]:
        return [trace for trace, row in self.traces.items() if begin <= int(row["startTimeUnixNano"]) / SECOND < end]


@contextmanager
def serve(fake: Fake) -> Iterator[str]:
    """Answer on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            status, body = fake.answer(parts.path, {key: values[0] for key, values in parse_qs(parts.query).items()})
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("backend", ["jaeger", "tempo"])
def test_every_trace_arrives_once(backend, tmp_path, open_traces):
    """Windows with more traces than one answer holds are halved until all are there."""
    with serve(Fake(backend)) as url:
        pulled = pull(url, tmp_path, since=BEGIN, until=BEGIN + 5 * HOUR, limit=25)
    assert 300 == pulled.traces
    traces = open_traces(tmp_path)
    assert [(300, 300)] == traces.sql("SELECT count(*), count(DISTINCT trace_id) FROM spans").fetchall()
    assert 0 == traces.ingested.quarantined


def test_a_pull_that_was_cut_off_goes_on(tmp_path):
    """What is complete is not asked for again."""
    fake = Fake("jaeger")
    with serve(fake) as url:
        fake.broken_after = 4
        with pytest.raises(TraceSourceError, match="503"):
            pull(url, tmp_path, backend="jaeger", since=BEGIN, until=BEGIN + 5 * HOUR)
        kept = len(list(tmp_path.glob("*.jsonl")))
        fake.broken_after = None
        fake.asked.clear()
        seen: list[Pulled] = []
        pulled = pull(url, tmp_path, backend="jaeger", since=BEGIN, until=BEGIN + 5 * HOUR, progress=seen.append)
    assert 3 == kept
    assert pulled.windows - kept == fake.asked.count("/api/v3/traces")
    assert list(range(1, pulled.windows + 1)) == [state.done for state in seen]


def test_the_last_window_is_pulled_again_when_it_is_over(tmp_path, open_traces):
    """Traces that came after the first pull are there after the second, and no file is left of the first."""
    with serve(Fake("jaeger")) as url:
        pull(url, tmp_path, since=BEGIN, until=BEGIN + 0.5 * HOUR)
        pull(url, tmp_path, since=BEGIN, until=BEGIN + 0.8 * HOUR)
    assert 48 == open_traces(tmp_path).ingested.spans
    assert not list(tmp_path.glob("*.unfinished"))


def test_more_traces_at_once_than_an_answer_holds_is_an_error(tmp_path):
    """A window that cannot be halved any more says which number to raise."""
    fake = Fake("tempo")
    fake.traces = {hex_id(n, 32): span(n, trace=n) for n in range(10)}
    with serve(fake) as url, pytest.raises(TraceSourceError, match="raise the limit"):
        pull(url, tmp_path, since=BEGIN, until=BEGIN + HOUR, limit=5)


def test_no_server_there_is_an_error_with_the_address(tmp_path):
    """A refused connection names the address."""
    with pytest.raises(TraceSourceError, match=r"http://127\.0\.0\.1:9"):
        pull("http://127.0.0.1:9", tmp_path, since=BEGIN, until=BEGIN + HOUR)


def test_a_time_without_a_zone_is_an_error(tmp_path):
    """Local time is nobody's time."""
    with serve(Fake("jaeger")) as url, pytest.raises(TraceSourceError, match="without a zone"):
        pull(url, tmp_path, since=BEGIN.replace(tzinfo=None), until=BEGIN + HOUR)


def test_an_earlier_end_takes_nothing_away(tmp_path, open_traces):
    """A window that is there up to a later time stays as it is."""
    fake = Fake("jaeger")
    with serve(fake) as url:
        pull(url, tmp_path, backend="jaeger", since=BEGIN, until=BEGIN + 0.8 * HOUR)
        fake.asked.clear()
        pull(url, tmp_path, backend="jaeger", since=BEGIN, until=BEGIN + 0.5 * HOUR)
    assert "/api/v3/traces" not in fake.asked
    assert 48 == open_traces(tmp_path).ingested.spans
