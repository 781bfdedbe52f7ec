"""Run a script as `python script.py` does, in simulated time: a wait returns at once, and clocks move by waits alone.

Chance is seeded, so that the same script takes the same course. Without this the tutorial's agent would take minutes.
"""

import random
import runpy
import sys
import threading  # noqa: F401 - it keeps the real clock if it has it before
import time

_EPOCH = 1_795_258_800.0
_now = 0.0


def _sleep(seconds: float) -> None:
    global _now  # noqa: PLW0603 - time is global
    _now += seconds


class _Seeded(random.Random):
    def __init__(self) -> None:
        super().__init__(7)


time.sleep = _sleep
time.monotonic = lambda: _now
time.time_ns = lambda: round((_EPOCH + _now) * 1e9)
random.SystemRandom = _Seeded  # type: ignore[misc,assignment]
random.seed(7)

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    sys.path[0] = ""
    runpy.run_path(sys.argv[0], run_name="__main__")
