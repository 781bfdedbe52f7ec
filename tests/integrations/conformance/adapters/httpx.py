"""An HTTP client with a recovering transport; the tools are pages of a real server on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx

from otel_toolerrors.integrations.httpx import AsyncRecoveryTransport
from tests.integrations.conformance.adapter import NO_MODEL, NO_RUN, Adapter
from tests.integrations.conformance.loop import converse_with
from tests.integrations.conformance.stage import Seen, Stage


class Paused(BaseException):
    """A signal of the program's own."""


def _pause() -> None:
    raise Paused


def _answering(stage: Stage) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
    """Serve each tool under its name: what it returns is the body, and a connection that it resets is one."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = httpx.URL((await reader.readuntil(b"\r\n\r\n")).split()[1].decode())
            value = await stage.functions[asked.path.strip("/")](**asked.params)
            failed = isinstance(value, dict) and "error" in value
            status, body = (value["error"]["code"], json.dumps(value)) if failed else (200, value)
            head = f"HTTP/1.1 {status} -\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            writer.write((head + body).encode())
            await writer.drain()
        except ConnectionResetError:
            writer.transport.abort()
        finally:
            writer.close()

    return answer


class _Carrying(httpx.AsyncHTTPTransport):
    """Carries the requests; an interrupt is raised on this side of the wire, which it would not cross."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(verify=False)
        self._stage = stage

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/ask":
            await self._stage.functions["ask"](**request.url.params)
        return await super().handle_async_request(request)


def _converse(stage: Stage) -> Seen:
    async def connected(use: Callable[..., Any]) -> None:
        transport = AsyncRecoveryTransport(stage.layer, _Carrying(stage))
        async with (
            await asyncio.start_server(_answering(stage), "127.0.0.1", 0) as server,
            httpx.AsyncClient(transport=transport) as client,
        ):
            port = server.sockets[0].getsockname()[1]

            async def call(tool: str, arguments: Any, _: str) -> tuple[str, bool]:
                response = await client.get(f"http://127.0.0.1:{port}/{tool}", params=arguments)
                return response.text, response.is_error

            await use(call)

    return converse_with(stage, connected, lambda error: isinstance(error, Paused))


ADAPTERS = (
    Adapter(
        "httpx transport",
        _converse,
        asynchronous=True,
        interrupt=_pause,
        impossible={
            **dict.fromkeys(("validation", "secret", "huge", "mute"), NO_MODEL),
            **dict.fromkeys(("permission", "run_breaker", "degrade", "parallel"), NO_RUN),
            "fallback": "no other host's answer would answer this request",
            "stream": "a good response is handed over as it arrives, and what breaks off then comes out",
        },
    ),
)
