"""The server that `load.py` asks: the demo's, in a process of its own, and what is said to it and heard from it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from otel_toolerrors.demo.plan import Fault, Plan, Service
from otel_toolerrors.demo.server import FaultServer
from otel_toolerrors.demo.virtual_time import Timeline, Wire

ROOT = Path(__file__).resolve().parents[1]
PLAN = Plan(
    service=(Service(name="api", latency=(0.0, 0.002)),),
    fault=(
        Fault(name="gone", service="api", share=0.03, status=404),
        Fault(name="down", service="api", share=0.02, status=503),
        Fault(name="reset", service="api", share=0.10, times=1, reset=True),
        Fault(name="busy", service="api", share=0.05, times=1, status=503),
    ),
)


class StatusError(Exception):
    """An answer that is none, as HTTP clients raise it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the server answered {status}")
        self.status_code = status


async def serve() -> None:
    """Serve until standard input ends; then tell how many requests there were."""
    async with FaultServer(PLAN, 1, Timeline(0), Wire()) as server:
        print(server.url("api").rpartition(":")[2], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        print(server.ledger.requests, flush=True)


class Server:
    """The server, and what it counted."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        self.port = int(self._line())

    def requests(self) -> int:
        """End it, and give the number of requests that it read."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        requests = int(self._line())
        self._process.wait(30)
        return requests

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def request(number: int) -> bytes:
    """A request that the server has not seen before."""
    return f"GET /things/{number} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def answer(raw: bytes) -> str:
    """The body; raises for a status that is an error."""
    if not raw:
        raise ConnectionResetError(104, "the server closed the connection without an answer")
    status = int(raw[9:12])
    if status >= 400:
        raise StatusError(status)
    return raw.partition(b"\r\n\r\n")[2].decode()


if __name__ == "__main__":
    asyncio.run(serve())
