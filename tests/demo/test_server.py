from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from otel_toolerrors.demo.plan import Fault, Plan, Service, Windows
from otel_toolerrors.demo.server import FaultServer, Ledger
from otel_toolerrors.demo.tools import TIMEOUT, Http
from otel_toolerrors.demo.virtual_time import Timeline, Wire, run

Act = Callable[[Http, Timeline], Awaitable[Any]]


def _serve(act: Act, *faults: Fault, outages: Windows | None = None) -> tuple[Any, Ledger]:
    """Do something with a server in simulated time; give what came of it, and the server's ledger."""
    plan = Plan(service=(Service(name="s", latency=(0.1, 0.1), outages=outages),), fault=faults)

    async def work(timeline: Timeline, wire: Wire) -> tuple[Any, Ledger]:
        async with (
            FaultServer(plan, 1, timeline, wire) as server,
            httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client,
        ):
            return await act(Http(client, server.url, wire), timeline), server.ledger

    return run(work, epoch_ns=0)


async def _write(http: Http, key: str | None = None) -> Any:
    return await http.ask("POST", "s", "/things", json={"reference": "r"}, key=key)


def test_answers_take_their_latency():
    """A healthy service answers, after its simulated latency."""

    async def act(http: Http, timeline: Timeline) -> tuple[Any, float]:
        return await http.ask("GET", "s", "/a"), timeline.now

    (answer, now), ledger = _serve(act)
    assert ({"path": "/a"}, 0.1, 1) == (answer, now, ledger.requests)


def test_status_and_headers_arrive():
    """A planned status reaches httpx with its headers and body."""
    fault = Fault(name="f", service="s", status=429, headers={"Retry-After": "5"}, body='{"error": "slow down"}')

    async def act(http: Http, _timeline: Timeline) -> httpx.Response:
        with pytest.raises(httpx.HTTPStatusError) as caught:
            await http.ask("GET", "s", "/a")
        return caught.value.response

    response, _ = _serve(act, fault)
    assert (429, "5", {"error": "slow down"}) == (
        response.status_code,
        response.headers["retry-after"],
        response.json(),
    )


def test_reset_is_a_real_reset():
    """A planned reset is what httpx makes of a RST."""

    async def act(http: Http, _timeline: Timeline) -> None:
        with pytest.raises(httpx.ReadError):
            await http.ask("GET", "s", "/a")

    _serve(act, Fault(name="f", service="s", reset=True))


def test_silence_after_commit_writes():
    """The client times out after its simulated timeout, and the write has happened."""
    fault = Fault(name="f", service="s", silence=True, committed=True)

    async def act(http: Http, timeline: Timeline) -> float:
        with pytest.raises(httpx.ReadTimeout):
            await _write(http)
        return timeline.now

    now, ledger = _serve(act, fault)
    assert now == TIMEOUT
    assert (1, 0, 1) == (ledger.writes.total(), ledger.duplicates, ledger.unanswered)


def test_blind_repeat_is_counted():
    """Writing the same again without a key is a duplicate."""

    async def act(http: Http, _timeline: Timeline) -> list[Any]:
        return [await _write(http), await _write(http)]

    answers, ledger = _serve(act)
    assert [{"id": 1}, {"id": 2}] == answers
    assert ledger.duplicates == 1


def test_idempotency_key_is_honoured():
    """Writing again with the same key gives the first answer, and writes nothing."""

    async def act(http: Http, _timeline: Timeline) -> list[Any]:
        return [await _write(http, "k"), await _write(http, "k")]

    answers, ledger = _serve(act)
    assert [{"id": 1}, {"id": 1}] == answers
    assert ledger.duplicates == 0


def test_outage_refuses_connections_and_ends():
    """In an outage nobody listens; afterwards the service answers on the same port."""

    async def act(http: Http, timeline: Timeline) -> list[str]:
        seen = []
        for _ in range(300):
            try:
                await http.ask("GET", "s", f"/{timeline.now}")
                seen.append("answer")
            except httpx.ConnectError:
                seen.append("refused")
                timeline.jump(1.0)
        return seen

    seen, _ = _serve(act, outages=Windows(every=20, lasts=(5, 5)))
    assert {"answer", "refused"} == set(seen)
    assert "answer" in seen[seen.index("refused") :]
