"""What the core costs beside time per call: its import, an idle run's memory, and growth over a million calls."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import tracemalloc
from time import process_time

from opentelemetry.sdk.trace import TracerProvider

import otel_toolerrors as te

CALLS, CHUNKS = 1_000_000, 10
_TIMED = "import time; start = time.process_time(); {work}; print(time.process_time() - start)"
_FIRST_CALL = (
    "import otel_toolerrors; layer = otel_toolerrors.RecoveryLayer(); layer.tool(name='search')(lambda: None)"
    "; layer.run().call('search')"
)


def seconds(work: str) -> float:
    """CPU time of statements in a fresh interpreter, the least of several."""
    command = [sys.executable, "-c", _TIMED.format(work=work)]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(9))


def idle_run_bytes(runs: int = 2_000) -> float:
    """Memory of a run that has made one call."""
    layer = te.RecoveryLayer()
    layer.tool(effects="read", name="search")(lambda: None)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = [layer.run(agent="triage") for _ in range(runs)]
    for run in kept:
        run.call("search")
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(kept)


def million(provider: TracerProvider | None) -> list[tuple[float, int]]:
    """Microseconds a call, and resident kilobytes, after each tenth of a million calls in one run."""
    layer = te.RecoveryLayer(tracer_provider=provider)
    layer.tool(effects="read", name="search")(lambda q: q)
    rows = []
    with layer.run(agent="triage") as run:
        for _ in range(CHUNKS):
            start = process_time()
            for number in range(CALLS // CHUNKS):
                run.call("search", {"q": number})
            rows.append(((process_time() - start) / (CALLS // CHUNKS) * 1e6, _resident()))
    return rows


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Print it."""
    sdk = seconds("import opentelemetry.sdk.trace")
    for name, work in (
        ("import opentelemetry.sdk.trace", "import opentelemetry.sdk.trace"),
        ("import pydantic.BaseModel", "from pydantic import BaseModel"),
        ("import otel_toolerrors", "import otel_toolerrors"),
        ("import, first layer, first call", _FIRST_CALL),
    ):
        took = seconds(work)
        print(f"{name:32}{took * 1e3:8.0f} ms CPU   ratio {took / sdk:.2f}")
    print(f"memory of an idle run           {idle_run_bytes() / 1024:8.1f} KiB")
    for name, provider in (("untraced", None), ("traced", TracerProvider())):
        print(f"\n{CALLS:,} calls of one run, {name}:  µs a call, peak resident MiB")
        for number, (time, memory) in enumerate(million(provider), start=1):
            print(f"{number * CALLS // CHUNKS:12,}{time:8.2f}{memory / 1024:9.1f}")


if __name__ == "__main__":
    main()
