"""Load: 10,000 concurrent async calls, then 64 threads, against a server that fails; every call accounted for.

    python benchmarks/load.py                          # 120 seconds of each, into trace files
    python benchmarks/load.py --collector              # the same through the real collector, which is built with Go
    python benchmarks/load.py --seconds 5 --calls 500  # a quick look

The server is the demo's, in a process of its own: resets, 503 and 404, which the client's requests meet as
``load_server.py`` plans. The tool asks it with bare sockets, so that the layer is what is measured. The baseline is the
same requests under a hand-written retry loop, without telemetry, in the same process. It stops by itself, and ends with
1 if a single call, attempt or span is unaccounted for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from load_server import Server, StatusError, answer, request
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

import otel_toolerrors as te
from otel_toolerrors import analysis

ROOT = Path(__file__).resolve().parents[1]
POLICY = te.parse_policy("""
[retry]
base_delay = 0.01
jitter = "none"
[budget]
capacity = 1e12
[breaker]
control = "disabled"
[run]
stop_on = []
tool_failures = 1000000
corrections = 1000000
corrections_in_a_row = 1000000
""")
"""Nothing stops early, so that every call goes its whole way."""
ATTEMPTS = 3
CONNECTIONS = 64
"""Open at a time, as in a client's pool."""
BASELINE_SHARE = 6
"""The baseline runs for this part of the time."""

_spent: ContextVar[list[float]] = ContextVar("spent")
"""Seconds that a call spends in the tool and asleep: the rest of it is the layer's, and the wait for a turn."""


@dataclass
class Tally:
    """What came of one kind of load."""

    outcomes: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    overheads: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0
    """Seconds of CPU that the process took, threads that write telemetry included."""
    peak: float = 0.0
    """Megabytes that the process had taken at its end."""

    def add(self, outcome: te.Outcome, overhead: float) -> None:
        """Count a call by the four-way outcome."""
        tried = outcome.attempts > 1
        failed = "failed_with_retry" if tried else "failed_without_retry"
        self.outcomes[("recovered" if tried else "ok") if outcome.ok else failed] += 1
        self.attempts += outcome.attempts
        self.overheads.append(overhead)

    @property
    def calls(self) -> int:
        """Calls that ended."""
        return self.outcomes.total()

    def milliseconds(self, share: float) -> float:
        """A percentile of the overhead."""
        ordered = sorted(self.overheads)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1e3


class CountedSpans(SpanProcessor):
    """Counts the spans that ended."""

    def __init__(self) -> None:
        self._count = count()
        self.ended = 0

    def on_end(self, span: ReadableSpan) -> None:  # noqa: ARG002 - the SDK's interface
        """Count."""
        self.ended = next(self._count) + 1


# ------------------------------------------------------------------ the load


class Load:
    """Calls of one tool, sync or async, with the layer or under a hand-written loop."""

    def __init__(self, layer: te.RecoveryLayer, port: int) -> None:
        self._port = port
        self._numbers = count()
        self._layer = layer
        self._pool: asyncio.Semaphore | None = None
        layer.tool(name="fetch", effects="read", service="api")(self.fetch)
        layer.tool(name="afetch", effects="read", service="api")(self.afetch)

    def fetch(self, number: int) -> str:
        """Ask over a socket."""
        began = time.perf_counter()
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=30) as connection:
                connection.sendall(request(number))
                return answer(b"".join(iter(lambda: connection.recv(65_536), b"")))
        finally:
            _spent.get()[0] += time.perf_counter() - began

    async def afetch(self, number: int) -> str:
        """Ask over a stream, when a connection of the pool is free."""
        began = time.perf_counter()
        assert self._pool is not None
        try:
            async with self._pool:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    writer.write(request(number))
                    return answer(await reader.read())
                finally:
                    writer.close()
        finally:
            _spent.get()[0] += time.perf_counter() - began

    async def concurrently(self, calls: int, seconds: float, call: Callable[[int], Any]) -> Tally:
        """Keep ``calls`` under way at a time, a new one for each that ends, until the time is over."""
        tally, end = Tally(), time.monotonic() + seconds
        self._pool = asyncio.Semaphore(CONNECTIONS)

        async def lane() -> None:
            while time.monotonic() < end:
                _spent.set(spent := [0.0])
                began = time.perf_counter()
                outcome = await call(next(self._numbers))
                tally.add(outcome, time.perf_counter() - began - spent[0])

        began, cpu = time.monotonic(), time.process_time()
        await asyncio.gather(*(asyncio.create_task(lane()) for _ in range(calls)))
        tally.seconds, tally.cpu = time.monotonic() - began, time.process_time() - cpu
        return tally

    def in_threads(self, threads: int, seconds: float, call: Callable[[int], te.Outcome]) -> Tally:
        """Call from ``threads`` threads until the time is over."""
        tally, end, lock = Tally(), time.monotonic() + seconds, Lock()

        def work() -> None:
            while time.monotonic() < end:
                _spent.set(spent := [0.0])
                began = time.perf_counter()
                outcome = call(next(self._numbers))
                overhead = time.perf_counter() - began - spent[0]
                with lock:
                    tally.add(outcome, overhead)

        began, cpu = time.monotonic(), time.process_time()
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(work) for _ in range(threads)]:
                done.result()
        tally.seconds, tally.cpu = time.monotonic() - began, time.process_time() - cpu
        return tally

    async def by_hand(self, number: int) -> te.Outcome:
        """The loop that people write, async."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                value = await self.afetch(number)
            except (OSError, StatusError) as error:
                if attempt == ATTEMPTS or getattr(error, "status_code", 503) == 404:
                    return te.Outcome(kind="surfaced", tool="afetch", attempts=attempt)
                await asleep(0.01 * 2 ** (attempt - 1))
            else:
                return te.Outcome(kind="ok", tool="afetch", value=value, attempts=attempt)
        raise AssertionError

    def by_hand_sync(self, number: int) -> te.Outcome:
        """The loop that people write."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                value = self.fetch(number)
            except (OSError, StatusError) as error:
                if attempt == ATTEMPTS or getattr(error, "status_code", 503) == 404:
                    return te.Outcome(kind="surfaced", tool="fetch", attempts=attempt)
                sleep(0.01 * 2 ** (attempt - 1))
            else:
                return te.Outcome(kind="ok", tool="fetch", value=value, attempts=attempt)
        raise AssertionError


async def asleep(seconds: float) -> None:
    """Wait, and remember it."""
    began = time.perf_counter()
    await asyncio.sleep(seconds)
    _spent.get()[0] += time.perf_counter() - began


def sleep(seconds: float) -> None:
    """Wait, and remember it."""
    began = time.perf_counter()
    time.sleep(seconds)
    _spent.get()[0] += time.perf_counter() - began


# ------------------------------------------------------------------ one run, and its balance


def measure(kind: str, arguments: argparse.Namespace, traces: Path) -> tuple[Tally, Tally, bool]:
    """Load the layer and the baseline; give both tallies, and whether everything is accounted for."""
    server, spans = Server(), CountedSpans()
    telemetry = te.configure("load", traces_dir=traces, set_global=False)
    assert telemetry.tracer_provider is not None
    telemetry.tracer_provider.add_span_processor(spans)  # type: ignore[attr-defined]
    layer = te.RecoveryLayer(POLICY, tracer_provider=telemetry.tracer_provider, sleep=sleep, asleep=asleep)
    load = Load(layer, server.port)
    short = arguments.seconds / BASELINE_SHARE
    with layer.run(agent="load") as run:
        if kind == "async":

            async def both() -> tuple[Tally, Tally]:
                hand = await load.concurrently(arguments.calls, short, load.by_hand)
                ours = await load.concurrently(
                    arguments.calls, arguments.seconds, lambda n: run.acall("afetch", {"number": n})
                )
                return hand, ours

            hand, ours = asyncio.run(both())
        else:
            hand = load.in_threads(arguments.threads, short, load.by_hand_sync)
            ours = load.in_threads(arguments.threads, arguments.seconds, lambda n: run.call("fetch", {"number": n}))
    assert telemetry.flush(timeout=120), "the telemetry has not been delivered"
    telemetry.shutdown(timeout=60)
    ours.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    good = balance(server.requests(), spans.ended, telemetry.dropped, hand, ours=ours, traces=traces)
    return hand, ours, good


def balance(requests: int, ended: int, dropped: Mapping[str, int], hand: Tally, *, ours: Tally, traces: Path) -> bool:
    """Hold what callers, server, SDK and analysis counted against each other, and print it."""
    lost = sum(dropped.values())
    with settled(traces, ended - lost) as opened:
        (analysed,) = opened.sql("SELECT count(*) FROM spans").fetchall()[0]
        (quarantined,) = opened.sql("SELECT count(*) FROM quarantine").fetchall()[0]
        recorded = Counter(dict(opened.sql(_OUTCOMES).fetchall()))
        (attempts,) = opened.sql("SELECT sum(attempts) FROM calls").fetchall()[0]
    rows = [
        ("calls by outcome: callers, traces", dict(sorted(ours.outcomes.items())), dict(sorted(recorded.items()))),
        ("attempts: callers, traces", ours.attempts, int(attempts or 0)),
        ("requests: callers, server", ours.attempts + hand.attempts, requests),
        ("spans: ended, analysed and counted as lost", ended, analysed + lost),
        ("lines in quarantine", 0, quarantined),
    ]
    for name, expected, found in rows:
        print(f"  {'ok ' if expected == found else 'NOT'} {name}: {expected} | {found}")
    print(f"      lost: {dict(dropped)}")
    # A lost span is a call or an attempt that the traces cannot tell of.
    return all(expected == found for _, expected, found in (rows[2:] if lost else rows))


_OUTCOMES = """
SELECT CASE WHEN outcome IN ('ok', 'recovered') THEN CASE WHEN attempts > 1 THEN 'recovered' ELSE 'ok' END
  WHEN attempts > 1 THEN 'failed_with_retry' ELSE 'failed_without_retry' END, count(*)
FROM calls GROUP BY ALL"""


@contextmanager
def settled(traces: Path, expected: int) -> Iterator[analysis.Traces]:
    """Open the traces when they are whole: the collector writes a batch at a time, for at most a minute."""
    for _ in range(30):
        with analysis.open(traces) as opened:
            if opened.ingested.spans >= expected:
                yield opened
                return
        time.sleep(2)
    with analysis.open(traces) as opened:
        yield opened


def show(kind: str, sink: str, hand: Tally, ours: Tally) -> None:
    """Print one line, and the outcomes."""
    rate, baseline = ours.calls / ours.seconds, hand.calls / hand.seconds
    print(
        f"{kind:8}{sink:11}{ours.calls:>9,} calls in {ours.seconds:.0f} s: {rate:,.0f}/s, by hand {baseline:,.0f}/s "
        f"({rate / baseline:.2f}); CPU {ours.cpu / ours.calls * 1e3:.2f} ms a call, by hand "
        f"{hand.cpu / hand.calls * 1e3:.2f} ms; beside the tool and the waits p50 {ours.milliseconds(0.5):.2f} ms, "
        f"p99 {ours.milliseconds(0.99):.2f} ms, by hand {hand.milliseconds(0.5):.2f} and "
        f"{hand.milliseconds(0.99):.2f} ms; peak {ours.peak:,.0f} MB"
    )
    print(json.dumps(dict(sorted(ours.outcomes.items()))))


def through_collector(arguments: argparse.Namespace, kind: str, folder: Path) -> bool:
    """Start a collector, and load through it."""
    sys.path.insert(0, str(ROOT))
    from tests.real.parts import Collector  # noqa: PLC0415 - needs the binary, and only this does

    collector = Collector(folder)
    collector.start()
    os.environ |= {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://{collector.grpc}",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_BSP_MAX_QUEUE_SIZE": "1000000",  # what is over it the SDK drops
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    try:
        hand, ours, balanced = measure(kind, arguments, collector.traces)
    finally:
        collector.stop()
    show(kind, "collector", hand, ours)
    return balanced


def main() -> int:
    """Load, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--kind", choices=["async", "threads"], action="append")
    parser.add_argument("--collector", action="store_true")
    arguments = parser.parse_args()
    print(f"load average at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    balanced = True
    for kind in arguments.kind or ["async", "threads"]:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            if arguments.collector:
                balanced &= through_collector(arguments, kind, folder)
                continue
            hand, ours, good = measure(kind, arguments, folder / "traces")
            show(kind, "files", hand, ours)
            balanced &= good
    return 0 if balanced else 1


if __name__ == "__main__":
    sys.exit(main())
