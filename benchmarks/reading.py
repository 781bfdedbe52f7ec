"""Simulated fleets, read by the analysis."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.fleet import Fleet
from otel_toolerrors import analysis


def opened(*simulated: Fleet) -> analysis.Traces:
    """Simulate fleets, write them, read them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        for fleet in simulated:
            fleet.simulate().write(path)
        return analysis.open(path)
