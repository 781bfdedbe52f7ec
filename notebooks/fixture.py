"""Traces for the notebooks: yours, or a simulated fleet with planted causes."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import altair as alt
import pandas as pd

from otel_toolerrors import analysis
from otel_toolerrors.analysis.findings import Finding

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.fleet import Fleet, fleets
from benchmarks.plants import PLANTS, UNAVAILABLE, Trouble
from otel_toolerrors.policy import Policy, load_policy

alt.renderers.enable("png", scale_factor=2)
pd.set_option("display.max_colwidth", None)

OUTAGES = Trouble("search", UNAVAILABLE, outages=tuple((start / 10, start / 10 + 0.01) for start in range(1, 10)))
IN_FORCE = Policy.model_validate(
    {"run": {"stop_on": [], "tool_failures": 50, "corrections_in_a_row": 50, "corrections": 50}}
)
"""The policy of the simulated fleets: failures are shown to the model, and stop no run."""


def load(path: str | None, *plants: str, **options: int) -> analysis.Traces:
    """Open traces, those that ``TOOLERRORS_TRACES`` names if None, or simulate a fleet with these planted causes."""
    if named := path or os.environ.get("TOOLERRORS_TRACES"):
        return analysis.open(named)
    return simulated(*fleets(*(PLANTS[name] for name in plants), **options))


def with_outages(path: str | None, policy: Policy = IN_FORCE, seed: int = 3) -> analysis.Traces:
    """Open traces, or simulate a fleet with nine outages of 15 s on one service."""
    if path is not None:
        return analysis.open(path)
    return simulated(Fleet(runs=300, seed=seed, every=5.0, policy=policy, ordinary=(OUTAGES,)))


def in_force(path: str | None, policy: str | None) -> Policy:
    """The policy under which the traces were recorded: of yours, the file's or the default one."""
    if path is None:
        return IN_FORCE
    return Policy() if policy is None else load_policy(policy)


def simulated(*made: Fleet) -> analysis.Traces:
    """Run fleets, and read what they exported."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        for fleet in made:
            fleet.simulate().write(path)
        return analysis.open(path)


def table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Findings as a table."""
    columns = ["severity", "kind", "title", "explanation"]
    rows = [[getattr(finding, name) for name in columns] for finding in findings]
    return pd.DataFrame(rows, columns=columns)
