import asyncio
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import httpx2
import pytest

from otel_toolerrors import Policy, RecoveryExhausted
from otel_toolerrors.integrations.httpx import AsyncRecoveryTransport, RecoveryTransport
from otel_toolerrors.policy import BreakerPolicy
from otel_toolerrors.testing import Bench, steady
from otel_toolerrors.vocabulary import FaultClassified
from tests.integrations import wire


@contextmanager
def serving(*answers):
    """Answer requests with (status, headers, body), in order; the last one is repeated."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def respond(self):
            received.append((self.command, self.body()))
            status, headers, body = answers[min(len(received), len(answers)) - 1]
            if status is None:  # hang up
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def body(self):
            if "transfer-encoding" not in self.headers:
                return self.rfile.read(int(self.headers.get("content-length", 0)))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(parts)

        do_GET = do_POST = do_PUT = respond  # noqa: N815 - the base class looks for these names

        def log_message(self, *_):
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/items", received
    finally:
        server.shutdown()
        server.server_close()


def _sync(library, bench, method, url, **request):
    transport = RecoveryTransport(bench.layer, library.HTTPTransport(verify=False))
    with library.Client(transport=transport) as client:
        return client.request(method, url, **request)


def _async(library, bench, method, url, **request):
    async def main():
        transport = AsyncRecoveryTransport(bench.layer, library.AsyncHTTPTransport(verify=False))
        async with library.AsyncClient(transport=transport) as client:
            return await client.request(method, url, **request)

    return asyncio.run(main())


@pytest.fixture(
    params=[(_sync, httpx), (_async, httpx), (_sync, httpx2), (_async, httpx2)],
    ids=["httpx sync", "httpx async", "httpx2 sync", "httpx2 async"],
)
def send(request):
    """``send(bench, method, url)`` through a client of either library, sync or async."""
    how, library = request.param
    return lambda *args, **kwargs: how(library, *args, **kwargs)


BUSY = (503, {"retry-after": "2"}, b"busy")
GOOD = (200, {}, b"good")


def test_outage_is_waited_out(send):
    """A GET is repeated after 503 and after a connection that breaks, as the server asks."""
    bench = Bench()
    with serving(BUSY, (None, {}, b""), GOOD) as (url, received):
        response = send(bench, "GET", url)

    assert (200, b"good") == (response.status_code, response.content)
    assert 3 == len(received)
    assert 2.0 == bench.clock.slept[0]


def test_the_last_response_comes_back_as_it_was(send):
    """When retries are over the client gets the response itself, headers and body, and may judge it."""
    bench = Bench()
    with serving((503, {"x-request-id": "r1"}, b'{"error": "down"}')) as (url, received):
        response = send(bench, "GET", url)

    assert 3 == len(received)
    assert (503, "r1", {"error": "down"}) == (response.status_code, response.headers["x-request-id"], response.json())
    with pytest.raises(Exception, match="503"):
        response.raise_for_status()


def test_client_errors_are_not_repeated(send):
    """A 404 is an answer."""
    bench = Bench()
    with serving((404, {}, b"no such item")) as (url, received):
        assert 404 == send(bench, "GET", url).status_code
    assert 1 == len(received)
    assert "not_found" == bench.of(FaultClassified)[0].category


@pytest.mark.parametrize(
    ("method", "headers", "attempts"),
    [("PUT", {}, 3), ("POST", {}, 1), ("POST", {"Idempotency-Key": "k1"}, 3)],
)
def test_only_what_may_be_repeated_is(send, method, headers, attempts):
    """A POST is repeated only with a key; its body is sent again in full."""
    bench = Bench()
    with serving((500, {}, b"")) as (url, received):
        send(bench, method, url, headers=headers, content=b"body")
    assert [(method, b"body")] * attempts == received


def test_streamed_body_is_sent_once(send):
    """A body that is a stream cannot be sent twice."""
    bench = Bench()

    def parts():
        yield b"a"

    async def aparts():
        yield b"a"

    asynchronous = send.__closure__[0].cell_contents is _async
    with serving((503, {}, b"")) as (url, received):
        assert 503 == send(bench, "PUT", url, content=aparts() if asynchronous else parts()).status_code
    assert 1 == len(received)
    assert ["http.503"] == [fault.code for fault in bench.of(FaultClassified)]


def test_the_last_exception_comes_out(send):
    """A connection that fails again and again raises the library's own exception, with a note."""
    bench = Bench()
    broken = (httpx.RemoteProtocolError, httpx2.RemoteProtocolError)
    with serving((None, {}, b"")) as (url, received), pytest.raises(broken) as caught:
        send(bench, "GET", url)
    assert 3 == len(received)
    assert "3 attempt(s)" in caught.value.__notes__[0]


def test_open_breaker_keeps_requests_away(send):
    """The host's breaker is shared by all of its requests."""
    bench = Bench(steady(Policy(breaker=BreakerPolicy(mode="consecutive", consecutive_failures=3))))
    with serving(BUSY) as (url, received):
        send(bench, "GET", url)
        with pytest.raises(RecoveryExhausted, match="not answering"):
            send(bench, "GET", url)
    assert 3 == len(received)


def test_stream_of_a_good_response_is_left_alone():
    """Good responses are not read ahead."""
    bench = Bench()
    with serving(GOOD) as (url, _):
        transport = RecoveryTransport(bench.layer, httpx.HTTPTransport(verify=False))
        with httpx.Client(transport=transport) as client, client.stream("GET", url) as response:
            assert b"good" == b"".join(response.iter_raw())


def test_stream_of_an_error_can_be_read_raw():
    """An error that was read to be judged is still unread for the client."""
    bench = Bench()
    with serving((404, {}, b"gone")) as (url, _):
        transport = RecoveryTransport(bench.layer, httpx.HTTPTransport(verify=False))
        with httpx.Client(transport=transport) as client, client.stream("GET", url) as response:
            assert b"gone" == b"".join(response.iter_raw())


def test_sdk_takes_the_transport():
    """An SDK whose own retries are off recovers through the transport, and honours Retry-After."""
    anthropic = pytest.importorskip("anthropic", reason="needs an SDK that takes an http_client")
    bench = Bench()
    with wire.serving(["hello"]) as provider:
        provider.outages = [wire.Outage(529), wire.Outage(429, {"retry-after": "7"})]
        transport = RecoveryTransport(bench.layer, httpx2.HTTPTransport(verify=False), name="anthropic")
        http = anthropic.DefaultHttpxClient(transport=transport)
        client = anthropic.Anthropic(api_key="k", base_url=provider.url, max_retries=0, http_client=http)
        options = {"extra_headers": {"Idempotency-Key": "k1"}}  # a model request is a POST without side effects
        with http:
            ask = client.messages.create
            reply = ask(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}], **options)

    assert "hello" == reply.content[0].text
    assert [0.5, 7.0] == bench.clock.slept
