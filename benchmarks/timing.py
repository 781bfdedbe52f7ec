"""How long a call takes: CPU time, in alternation with what it is compared to."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import process_time

Call = Callable[[], object]
AsyncCall = Callable[[], Awaitable[object]]

ROUNDS = 15


def microseconds(call: Call, calls: int) -> float:
    """CPU time of one call."""
    start = process_time()
    for _ in range(calls):
        call()
    return (process_time() - start) / calls * 1e6


def least(*subjects: Call, calls: int = 2_000) -> list[float]:
    """The least time of each in microseconds: everything else on a machine only adds."""
    for subject in subjects:
        microseconds(subject, calls // 4)
    gc.collect()
    gc.disable()
    try:
        rounds = [[microseconds(subject, calls) for subject in subjects] for _ in range(ROUNDS)]
    finally:
        gc.enable()
    return [min(times) for times in zip(*rounds, strict=True)]


def awaited(call: AsyncCall) -> Callable[[int], float]:
    """A measurement of an async call within one event loop."""

    async def many(calls: int) -> float:
        start = process_time()
        for _ in range(calls):
            await call()
        return (process_time() - start) / calls * 1e6

    return lambda calls: asyncio.run(many(calls))


def aleast(*subjects: AsyncCall, calls: int = 2_000) -> list[float]:
    """What `least` does, for async calls."""
    measures = [awaited(subject) for subject in subjects]
    for measure in measures:
        measure(calls // 4)
    rounds = [[measure(calls) for measure in measures] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def table(title: str, times: Mapping[str, float], baselines: Sequence[str]) -> str:
    """A Markdown table of microseconds, and of ratios to each baseline."""
    head = ["", "µs", *(f"÷ {name}" for name in baselines)]
    rows = [[name, f"{time:.2f}", *(f"{time / times[base]:.2f}" for base in baselines)] for name, time in times.items()]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join([f"### {title}", "", *("| " + " | ".join(line) + " |" for line in lines), ""])
