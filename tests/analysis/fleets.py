"""Simulated traces for the tests of the analysis: see ``benchmarks/fleet.py``."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.fleet import Fleet, fleets
from benchmarks.plants import PLANTS, Plant
from otel_toolerrors import analysis
from otel_toolerrors.analysis import Traces


def traces_of(*simulated: Fleet) -> Traces:
    """Simulate fleets, and open what they exported."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        for one in simulated:
            one.simulate().write(path)
        return analysis.open(path)


@cache
def planted(*names: str, runs: int = 150, seed: int = 1) -> Traces:
    """Traces of a fleet with planted causes; without names, of a clean one."""
    return traces_of(*fleets(*(PLANTS[name] for name in names), runs=runs, seed=seed))


def with_plant(plant: Plant, **options: Any) -> Traces:
    """Traces of a fleet with one cause that is not in the table."""
    return traces_of(*fleets(plant, **options))
