"""Each finding fires on its planted cause, and on nothing else."""

from pathlib import Path

import pytest

from benchmarks.plants import PLANTS
from otel_toolerrors.analysis.findings import DETECTORS, Options, find
from otel_toolerrors.analysis.findings.tested import significant
from tests.analysis.fleets import planted


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_cause_is_found(name):
    """The finding names the planted kind, and what it was planted at."""
    plant = PLANTS[name]
    found = [finding for finding in find(planted(name), kinds=[plant.kind]) if plant.about in _subjects(finding)]

    assert len(found) == 1
    assert found[0].evidence


@pytest.mark.parametrize("seed", [1, 2])
def test_a_clean_fleet_is_silent(seed):
    """Ordinary faults, fixed arguments and repaired preconditions are no findings."""
    assert [] == find(planted(seed=seed))


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_cause_shows_as_nothing_else(name):
    """A cause leads to its own kind of finding, and to those that rightly follow from it."""
    plant = PLANTS[name]
    expected = {plant.kind, *plant.also}

    assert [] == [finding.title for finding in find(planted(name)) if finding.kind not in expected]


def test_findings_come_in_a_stable_order_with_stable_content():
    """The same traces give the same findings, gravest first."""
    traces = planted("should_retry", "stale_hint", "overhead")
    first, second = find(traces), find(traces)
    grades = ["high", "medium", "low", "info"]

    assert [one.to_dict() for one in first] == [one.to_dict() for one in second]
    assert [one.severity for one in first] == sorted((one.severity for one in first), key=grades.index)


def test_storing_the_views_changes_nothing():
    """What is found while each view is computed once is what the views themselves give; and nothing is left behind."""
    traces = planted(*PLANTS)
    tables = "SELECT table_name FROM duckdb_tables()"
    before, found = traces.sql(tables).fetchall(), find(traces)
    by_kind = [significant(look(traces, Options()), Options().false_discoveries) for look in DETECTORS.values()]

    assert len({one.kind for one in found}) > len(DETECTORS) / 2
    assert sorted(_told(one) for kind in by_kind for one in kind) == sorted(map(_told, found))
    assert before == traces.sql(tables).fetchall()


def test_evidence_points_at_spans_that_exist():
    """Every trace and span id that a finding names is in the traces."""
    traces = planted("should_retry", "stale_hint", "overhead")
    known = set(traces.sql("SELECT trace_id, span_id FROM spans").fetchall())
    named = {(one.trace_id, one.span_id) for finding in find(traces) for one in finding.evidence}

    assert named
    assert named <= known


def test_an_unknown_kind_is_refused():
    """The error lists what there is."""
    with pytest.raises(ValueError, match="unknown kinds of finding: nonsense; known: misclassified"):
        find(planted(), kinds=["nonsense"])


def test_every_kind_has_a_plant():
    """No finding is untested."""
    assert set(DETECTORS) == {plant.kind for plant in PLANTS.values()}


def test_every_kind_is_documented():
    """Each kind in the table has its page."""
    pages = {path.stem for path in (Path(__file__).parents[3] / "docs" / "findings").glob("*.md")}

    assert set(DETECTORS) <= pages


def _told(finding):
    """All but what it cost: sums of the same numbers in another order may differ in their last digits."""
    return repr({name: told for name, told in finding.to_dict().items() if name != "cost"})


def _subjects(finding):
    return {finding.tool, finding.service, finding.code, ""}
