"""The real programs that these tests run against, each on free loopback ports."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from collector import build

ROOT = Path(__file__).parents[2]
COLLECTOR = ROOT / "collector"
DASHBOARDS = ROOT / "dashboards"
WORKLOAD = Path(__file__).with_name("workload.py")

T = TypeVar("T")


def missing(what: str) -> None:
    """Skip, saying what is lacking; where CI promises every part, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def built(part: str) -> Path:
    """Binary of a part that is built from source, building it if it is not there yet."""
    try:
        return build.ensure(part)
    except RuntimeError as error:
        missing(str(error))
        raise


def installed(program: str, package: str) -> str:
    """Path of a program that the system's packages bring."""
    path = shutil.which(program)
    if path is None:
        missing(f"{program} is not on the PATH: apt-get install {package}")
    return str(path)


def eventually(check: Callable[[], T], what: str, within: float = 30.0) -> T:
    """Ask again until the answer is true-ish, and return it. Real programs need a moment; nothing tells how long."""
    deadline = time.monotonic() + within
    while True:
        with suppress(httpx.TransportError):
            if answer := check():
                return answer
        if time.monotonic() > deadline:
            pytest.fail(f"not within {within:g} s: {what}")
        time.sleep(0.1)


# Below the range from which the system takes the ports of outgoing connections, and each of them given out once.
_candidates = iter(range(20_000 + os.getpid() % 1_000 * 10, 32_000))


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on, all different."""
    ports: list[int] = []
    while len(ports) < number:
        port = next(_candidates)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.append(port)
    return ports


def answers(url: str) -> bool:
    """Whether a server is there and well."""
    return httpx.get(url).is_success


class Program:
    """A server under test: started, asked whether it is ready, stopped."""

    def __init__(
        self, command: Sequence[str | Path], health: str, log: Path, env: dict[str, str] | None = None
    ) -> None:
        self.command = [str(word) for word in command]
        self.health = health
        self.log = log
        self.env = env or {}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self.command, env=os.environ | self.env, stdout=log, stderr=log)
        eventually(self._ready, f"{self.command[0]} is ready; its log ends with: {self.tail()}")

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it without asking."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Stop it from running, with its connections open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it run again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def tail(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else "(no log)"

    def _ready(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            pytest.fail(f"{self.command[0]} ended with {self._process.returncode}: {self.tail()}")
        return answers(self.health)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(how)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)


class Collector(Program):
    """The collector with the shipped configuration, its files in a folder of its own."""

    def __init__(self, folder: Path, *overlays: str, **env: str) -> None:
        grpc, http, reported, derived, health, own, peer = free_ports(7)
        self.folder = folder
        self.grpc = f"127.0.0.1:{grpc}"
        self.http = f"127.0.0.1:{http}"
        self.reported = f"127.0.0.1:{reported}"
        self.derived = f"127.0.0.1:{derived}"
        self.own = f"127.0.0.1:{own}"
        self.peer = f"127.0.0.1:{peer}"
        nobody = f"127.0.0.1:{free_ports(1)[0]}"
        configs = [f"--config={COLLECTOR / name}" for name in ("config.yaml", *overlays)]
        super().__init__(
            [built("collector"), *configs],
            f"http://127.0.0.1:{health}/",
            folder / "collector.log",
            {
                "TOOLERRORS_DATA": str(folder),
                "OTLP_GRPC_ENDPOINT": self.grpc,
                "OTLP_HTTP_ENDPOINT": self.http,
                "REPORTED_METRICS_ENDPOINT": self.reported,
                "DERIVED_METRICS_ENDPOINT": self.derived,
                "HEALTH_ENDPOINT": f"127.0.0.1:{health}",
                "SELF_METRICS_PORT": str(own),
                "PEER_ENDPOINT": self.peer,
                "JAEGER_ENDPOINT": nobody,
                "TEMPO_ENDPOINT": nobody,
                "SPAN_METRICS_INTERVAL": "2s",
                "SAMPLING_DECISION_WAIT": "1s",
            }
            | env,
        )

    @property
    def traces(self) -> Path:
        """Folder of the recorded traces."""
        return self.folder / "traces"


class Jaeger(Program):
    """Jaeger with its traces in memory."""

    def __init__(self, folder: Path) -> None:
        otlp, query, query_grpc, health = free_ports(4)
        self.otlp = f"127.0.0.1:{otlp}"
        self.url = f"http://127.0.0.1:{query}"
        super().__init__(
            [built("jaeger"), f"--config={Path(__file__).with_name('jaeger.yaml')}"],
            f"http://127.0.0.1:{health}/status",
            folder / "jaeger.log",
            {
                "JAEGER_OTLP": self.otlp,
                "JAEGER_QUERY": f"127.0.0.1:{query}",
                "JAEGER_QUERY_GRPC": f"127.0.0.1:{query_grpc}",
                "JAEGER_HEALTH": f"127.0.0.1:{health}",
            },
        )

    def get(self, path: str, **parameters: str) -> Any:
        """Answer of the v3 HTTP API; None while there is nothing."""
        answer = httpx.get(f"{self.url}/api/v3/{path}", params=parameters)
        return None if answer.status_code == httpx.codes.NOT_FOUND else answer.raise_for_status().json()

    def spans(self, service: str, operation: str = "") -> list[dict[str, Any]]:
        """All spans of the traces in which a service, and if given an operation, takes part."""
        found = self.get(
            "traces",
            **{
                "query.service_name": service,
                "query.operation_name": operation,
                "query.start_time_min": "2020-01-01T00:00:00Z",
                "query.start_time_max": "2100-01-01T00:00:00Z",
                "query.num_traces": "10000",
            },
        )
        resources = [] if found is None else found["result"]["resourceSpans"]
        return [span for resource in resources for scope in resource["scopeSpans"] for span in scope["spans"]]


class Prometheus(Program):
    """Prometheus that scrapes a collector every second, and evaluates the shipped alerts."""

    def __init__(self, folder: Path, collector: Collector) -> None:
        self.address = f"127.0.0.1:{free_ports(1)[0]}"
        shipped = (COLLECTOR / "provisioning" / "prometheus.yaml").read_text()
        config = (
            shipped.replace("collector:8889", collector.reported)
            .replace("collector:8890", collector.derived)
            .replace("collector:8888", collector.own)
            .replace("15s", "1s")
        )
        (folder / "prometheus.yaml").write_text(config)
        shutil.copy(DASHBOARDS / "alerts.yaml", folder)
        super().__init__(
            [
                installed("prometheus", "prometheus"),
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={self.address}",
                "--enable-feature=exemplar-storage",
            ],
            f"http://{self.address}/-/ready",
            folder / "prometheus.log",
        )

    def get(self, path: str, **parameters: str) -> Any:
        """``data`` of an answer of the HTTP API; a refused query fails with Prometheus's own words."""
        answer = httpx.get(f"http://{self.address}/api/v1/{path}", params=parameters).json()
        assert answer["status"] == "success", answer
        return answer["data"]

    def number(self, expression: str) -> float:
        """The one number that an expression gives now; NaN while there is none."""
        result = self.get("query", query=expression)["result"]
        return float(result[0]["value"][1]) if result else math.nan

    def now(self) -> float:
        """Its own time, in seconds since the epoch."""
        return self.get("query", query="time()")["result"][0]


class Agent:
    """The workload in a process of its own; its telemetry goes to the OTLP endpoint ``to``, or into files if None."""

    def __init__(self, *arguments: str, to: str | None, cwd: Path, **env: str) -> None:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
        otlp = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{to}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            "OTEL_METRIC_EXPORT_INTERVAL": "500",
        }
        name = f"agent-{next(_agents)}"
        self._output, self._errors = cwd / f"{name}.out", cwd / f"{name}.err"
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, WORKLOAD, *arguments],
                cwd=cwd,
                env=clean | {"PYTHONPATH": str(ROOT)} | (otlp if to is not None else {}) | env,
                stdout=output,
                stderr=errors,
            )

    def after_run(self, number: int) -> None:
        """Wait until it has ended a run and begun the next."""
        eventually(lambda: f'"run": {number + 1}' in self._output.read_text(), f"the agent has ended run {number}")

    def said(self) -> list[dict[str, Any]]:
        """Wait for its end, which must be a good one; return what it said, a line each."""
        assert self._process.wait(120) == 0, self._errors.read_text()
        return [json.loads(line) for line in self._output.read_text().splitlines()]


_agents = count()
