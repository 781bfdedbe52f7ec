"""The demo's server: real HTTP on loopback, one port a service, faults as planned, and a ledger of what it wrote."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections import Counter
from contextlib import suppress
from types import TracebackType
from typing import Self

from .plan import Fault, Plan, Request, Service, Weather
from .virtual_time import Timeline, Wire

REQUEST_ID = "x-request-id"
_LOOPBACK = "127.0.0.1"
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, for no time: closing sends RST
_REASONS = {200: "OK", 201: "Created", 403: "Forbidden", 404: "Not Found", 429: "Too Many Requests"}


class Ledger:
    """What really happened, as only the server knows."""

    def __init__(self) -> None:
        self.requests = 0
        self.unanswered = 0
        """Writes that took effect, and whose client never heard of it."""
        self.writes: Counter[str] = Counter()
        """How often each write took effect."""
        self._answers: dict[str, int] = {}

    @property
    def duplicates(self) -> int:
        """Writes that took effect again."""
        return sum(times - 1 for times in self.writes.values())

    def commit(self, request: Request, key: str | None) -> int:
        """Write, unless a request with the same idempotency key already has; give the number of the record."""
        known = self._answers.get(key) if key else None
        if known is not None:
            return known
        self.writes[request.identity] += 1
        number = self.writes.total()
        if key:
            self._answers[key] = number
        return number


class FaultServer:
    """Serves every service of a plan, as an async context manager."""

    def __init__(self, plan: Plan, seed: int, timeline: Timeline, wire: Wire) -> None:
        self.ledger = Ledger()
        self.weather = Weather(plan, seed)
        self._plan = plan
        self._timeline = timeline
        self._wire = wire
        self._ports: dict[str, int] = {}
        self._servers: dict[str, asyncio.Server] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen: Counter[str] = Counter()

    def url(self, service: str) -> str:
        """Where a service listens."""
        return f"http://{_LOOPBACK}:{self._ports[service]}"

    async def __aenter__(self) -> Self:
        for service in self._plan.service:
            await self._listen(service)
            if outages := self.weather.outages(service):
                self._tasks.add(asyncio.create_task(self._go_away(service, outages)))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        for server in self._servers.values():
            server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, service: Service) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if (task := asyncio.current_task()) is not None:
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                try:
                    await self._serve(service, reader, writer)
                finally:
                    writer.close()
                    await writer.wait_closed()

        server = await asyncio.start_server(serve, _LOOPBACK, self._ports.get(service.name, 0))
        self._servers[service.name] = server
        self._ports[service.name] = server.sockets[0].getsockname()[1]

    async def _go_away(self, service: Service, outages: list[tuple[float, float]]) -> None:
        for start, end in outages:
            await asyncio.sleep(start - self._timeline.now)
            self._servers[service.name].close()
            await asyncio.sleep(end - self._timeline.now)
            await self._listen(service)

    async def _serve(self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, headers = await _read(service.name, reader)
        number = headers.get(REQUEST_ID, "")
        self.ledger.requests += 1
        self._seen[request.identity] += 1
        fault = self.weather.strike(request, self._timeline.now)
        self._wire.arrive(number)
        await asyncio.sleep(self.weather.latency(request, service, self._seen[request.identity]))
        status, body = 200, ""
        if fault is None or fault.committed:
            status, body = self._do(request, headers.get("idempotency-key"))
        if fault is not None and fault.silence:
            self.ledger.unanswered += fault.committed
            await reader.read()  # until the client hangs up
            return
        self._wire.answer(number)
        if fault is not None and fault.reset:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            writer.transport.abort()
            return
        writer.write(_response(status, body) if fault is None else _failure(fault))
        await writer.drain()

    def _do(self, request: Request, key: str | None) -> tuple[int, str]:
        if request.method == "POST":
            return 201, json.dumps({"id": self.ledger.commit(request, key)})
        return 200, json.dumps({"path": request.path})


async def _read(service: str, reader: asyncio.StreamReader) -> tuple[Request, dict[str, str]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    content = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(service=service, method=method, path=path, content=content.decode()), headers


def _failure(fault: Fault) -> bytes:
    return _response(fault.status or 500, fault.body, fault.headers)


def _response(status: int, body: str, headers: dict[str, str] | None = None) -> bytes:
    content = body.encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(content)), "Connection": "close"}
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}"]
    lines += [f"{name}: {value}" for name, value in (fields | (headers or {})).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content
