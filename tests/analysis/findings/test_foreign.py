"""Findings on traces that other instrumentations made."""

from pathlib import Path

import pytest

from otel_toolerrors import analysis
from otel_toolerrors.policy import Policy

FILES = sorted((Path(__file__).parents[1] / "data").rglob("*.json*"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_findings_replay_and_tuning_take_any_trace(path):
    """Traces without our events give what they can, and no error."""
    traces = analysis.open(path)

    assert all(finding.title for finding in traces.findings())
    assert traces.replay(Policy(), replicas=1).duplicate_risk == 0
    assert traces.tune().changes == ()
