"""Every view, every finding and a replay are the same on both engines, over one big simulated fleet."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import isclose
from types import SimpleNamespace

import pytest

from benchmarks.fleet import DAY, START, fleets
from benchmarks.plants import PLANTS
from otel_toolerrors import analysis
from otel_toolerrors.analysis.findings import DETECTORS, Options, find
from otel_toolerrors.analysis.replay.recorded import record
from otel_toolerrors.analysis.views import views

from .conftest import Both

_RUNS = {"retry_storm": 150}
_USUAL = 50


class _Listening:
    """Passes questions on, and keeps the answers."""

    def __init__(self, traces, answers=None):
        self.traces = traces
        self.answers = [] if answers is None else answers

    @contextmanager
    def snapshot(self):
        with self.traces.snapshot() as stored:
            yield _Listening(stored, self.answers)

    def sql(self, query, params=None):
        relation = self.traces.sql(query, params)
        self.answers.append((relation.columns, relation.fetchall()))
        return SimpleNamespace(columns=relation.columns, fetchall=lambda: self.answers[-1][1])


@pytest.fixture(scope="module")
def pair(stored, tmp_path_factory) -> Iterator[Both]:
    """All plants, a day each, so that one does not hide another."""
    file = tmp_path_factory.mktemp("fleet") / "traces.jsonl"
    for day, (name, plant) in enumerate(PLANTS.items()):
        for fleet in fleets(plant, runs=_RUNS.get(name, _USUAL), seed=1 + day):
            began = fleet.began + 3 * day * DAY
            replace(fleet, began=began, service_name=f"agent-{day}", spans=[]).simulate().write(file)
    with analysis.open(file) as duck, analysis.open(stored(file)) as click:
        yield duck, click


@pytest.mark.parametrize("name", ["spans", "span_events", *dict(views())])
def test_views_are_equal(name, pair):
    """A table or a view has the same columns, in the same types of values, and the same rows."""
    duck, click = (_rows(traces, name) for traces in pair)

    assert duck == click


@pytest.mark.parametrize("kind", DETECTORS)
def test_findings_are_equal(kind, pair):
    """Whatever a finding asks has the same answer, row by row; so it is the same, down to its evidence and patch."""
    heard = [_Listening(traces) for traces in pair]
    duck, click = ([one.to_dict() for one in find(traces, kinds=[kind])] for traces in heard)
    answers, others = (traces.answers for traces in heard)

    assert any(rows for _, rows in answers)
    assert [] == _different(answers, others)
    assert [] == _different(duck, click)


def test_most_kinds_are_found(pair):
    """The comparison of findings is not one of nothing with nothing."""
    found = {one.kind for one in find(pair[1])}

    assert len(found) > len(DETECTORS) / 2


def test_findings_with_a_baseline_are_equal(pair):
    """A number that is bound into a query arrives as it is."""
    options, kinds = Options(baseline=START + 59.5 * DAY, soon=2.25), ("regression", "duplicate_write_risk")
    duck, click = ([one.title for one in find(traces, kinds=kinds, options=options)] for traces in pair)

    assert duck
    assert duck == click


def test_recorded_calls_are_equal(pair):
    """What a replay starts from is the same, so another policy would have done the same."""
    duck, click = (record(traces) for traces in pair)

    assert duck.calls
    assert duck == click


def _rows(traces, name):
    relation = traces.sql(f"SELECT * FROM {name}")  # noqa: S608 - our own names
    columns = sorted(relation.columns)
    # ClickHouse's arrays cannot be NULL.
    found = [{k: v for k, v in zip(relation.columns, row, strict=True) if v != []} for row in relation.fetchall()]
    return columns, sorted(repr([(column, row.get(column)) for column in columns]) for row in found)


def _different(one, other, place=()):
    """Where two answers differ. Sums of the same numbers in another order may differ in their last digits."""
    match one, other:
        case {**ours}, {**theirs} if ours.keys() == theirs.keys():
            return [found for key in ours for found in _different(ours[key], theirs[key], (*place, key))]
        case [*ours], [*theirs] if len(ours) == len(theirs):
            return [
                found
                for n, pair in enumerate(zip(ours, theirs, strict=True))
                for found in _different(*pair, (*place, n))
            ]
        case float(), float() if isclose(one, other, rel_tol=1e-9, abs_tol=1e-9):
            return []
    return [] if one == other or (one is None and other == []) else [(place, one, other)]
