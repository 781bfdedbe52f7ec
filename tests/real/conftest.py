"""Real programs, started once for all tests that only read what they recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.real.parts import Agent, Collector, Jaeger, Program, Prometheus, eventually

P = TypeVar("P", bound=Program)


@dataclass(frozen=True)
class Stack:
    """Collector, Jaeger and Prometheus after agents have worked for a few seconds."""

    collector: Collector
    jaeger: Jaeger
    prometheus: Prometheus
    outcomes: list[dict[str, Any]]
    """What the service ``triage`` answered, a call each."""
    ended: float
    """When the agents had ended, in seconds since the epoch."""


@pytest.fixture
def start() -> Iterator[Callable[[P], P]]:
    """Start programs that end with the test."""
    started: list[Program] = []

    def start_one(program: P) -> P:
        started.append(program)
        program.start()
        return program

    yield start_one
    for program in reversed(started):
        program.kill()


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole pipeline, with the workload's telemetry in it."""
    folder = tmp_path_factory.mktemp("stack")
    jaeger = Jaeger(_made(folder / "jaeger"))
    # Jaeger's query port speaks gRPC but takes no spans: a backend that refuses.
    collector = Collector(
        _made(folder / "collector"), JAEGER_ENDPOINT=jaeger.otlp, TEMPO_ENDPOINT=jaeger.env["JAEGER_QUERY_GRPC"]
    )
    prometheus = Prometheus(_made(folder / "prometheus"), collector)
    programs = [jaeger, collector, prometheus]
    try:
        for program in programs:
            program.start()
        # Long enough for Prometheus to see every counter move between two scrapes.
        triage = ("--service", "triage")
        said = Agent(*triage, "--runs", "2", to=collector.grpc, cwd=folder).said()
        lossy = Agent("--service", "lossy", "--runs", "8", "--pause", "0.7", to=collector.grpc, cwd=folder, **LOSSY)
        said += Agent(*triage, "--runs", "10", "--pause", "0.7", to=collector.grpc, cwd=folder).said()
        lossy.said()
        outcomes = calls_of(said)
        eventually(
            lambda: len(recorded(collector.traces, "execute_tool")) == len(outcomes), "every call has been recorded"
        )
        eventually(lambda: jaeger_has_runs(jaeger, 12), "Jaeger shows every run")
        eventually(
            lambda: (
                prometheus.number('sum(traces_span_metrics_calls_total{job="triage",toolerrors_outcome!=""})')
                == len(outcomes)
            ),
            "Prometheus has counted every call",
        )
        yield Stack(collector, jaeger, prometheus, outcomes, prometheus.now())
    finally:
        for program in reversed(programs):
            program.kill()


LOSSY = {
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9",  # the discard port: nobody listens
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "1",
    "OTEL_BSP_SCHEDULE_DELAY": "200",
}
"""Traces get lost, metrics arrive and say so."""


def calls_of(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls that an agent tells of."""
    return [line for line in said if "tool" in line]


def recorded(folder: Path, operation: str = "") -> list[dict[str, Any]]:
    """Spans in the trace files of a folder whose names begin with an operation."""
    return [
        span
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text().splitlines()
        for span in spans_of(json.loads(line))
        if span["name"].startswith(operation)
    ]


def spans_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Spans of an OTLP JSON document."""
    return [
        span for resource in document["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]
    ]


def attributes_of(entry: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a span or an event, as plain values."""
    return {pair["key"]: next(iter(pair["value"].values())) for pair in entry.get("attributes", [])}


def jaeger_has_runs(jaeger: Jaeger, runs: int) -> bool:
    """Whether Jaeger shows as many runs of the service."""
    return len({span["traceId"] for span in jaeger.spans("triage", "invoke_agent triage")}) >= runs


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
