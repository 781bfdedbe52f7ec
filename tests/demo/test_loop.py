"""The whole loop on the demo's own world. Volume is the point: most findings rest on a test."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from otel_toolerrors import Policy, analysis
from otel_toolerrors.demo.plan import default_plan
from otel_toolerrors.demo.rounds import Case, Round, Setting, demo_catalog, play
from otel_toolerrors.demo.scores import Scores, compared, scores

SEED = 1
FLAGS = {
    "misclassified_should_retry": "get_invoice",
    "misclassified_should_not_retry": "render_report",
    "stale_suggestion": None,
    "injection_overhead": "get_order",
}
"""Each flag that the product is named for, and the tool of its planted cause."""


def _setting(tasks: int = 300) -> Setting:
    return Setting(plan=default_plan(), catalog=demo_catalog(), tasks=tasks)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Round:
    """One round under the default policy."""
    return play(_setting(), Case(Policy(), SEED, tmp_path_factory.mktemp("before") / "traces"))


@pytest.fixture(scope="module")
def findings(before: Round) -> list[Any]:
    """What the analysis finds in it."""
    with analysis.open(before.case.traces) as traces:
        return list(traces.findings())


def _score(played: Round) -> Scores:
    with analysis.open(played.case.traces) as traces:
        return scores(traces, played)


def test_same_seed_takes_the_same_course(tmp_path: Path):
    """Two rounds with one seed meet the same faults and make the same decisions at the same moments."""
    rounds = [play(_setting(40), Case(Policy(), 5, tmp_path / name)) for name in ("one", "two")]
    assert rounds[0].struck == rounds[1].struck
    assert rounds[0].seconds == rounds[1].seconds
    assert _score(rounds[0]) == _score(rounds[1])
    assert _ids(rounds[0]) == _ids(rounds[1])


def _ids(played: Round) -> list[tuple[str, str]]:
    with analysis.open(played.case.traces) as traces:
        return traces.sql("SELECT trace_id, span_id FROM spans ORDER BY start_ns, span_id").fetchall()


def test_spans_carry_simulated_times(tmp_path: Path):
    """A trace shows waits as long as they would have been."""
    played = play(_setting(40), Case(Policy(), SEED, tmp_path / "traces"), epoch_ns=1_700_000_000_000_000_000)
    with analysis.open(played.case.traces) as traces:
        begin, end = traces.sql('SELECT min(start), max("end") FROM runs').fetchall()[0]
        waits = traces.sql(_WAITS).fetchall()
    assert begin == pytest.approx(1_700_000_000, abs=10)
    assert end == pytest.approx(1_700_000_000 + played.seconds, abs=1)
    assert waits
    assert [planned for planned, _ in waits] == pytest.approx([made for _, made in waits], abs=1e-3)


_WAITS = """
SELECT r.delay, a.start - r.ts FROM retries r
JOIN attempts a ON a.call_span_id = r.call_span_id AND a.attempt = r.attempt + 1
WHERE r.event = 'toolerrors.retry.scheduled' AND r.basis = 'backoff'"""


def test_nothing_is_lost_on_the_way_to_the_files(before: Round):
    """Every task's run is in the traces, however fast simulated time passes."""
    with analysis.open(before.case.traces) as traces:
        runs = traces.sql("SELECT count(*) FROM runs").fetchall()[0][0]
    assert before.tasks == runs
    assert before.dropped == {}


def test_ground_truth_no_write_happens_twice(before: Round):
    """Writes took effect although their answers never came, and the server counted none of them twice."""
    assert before.ledger.unanswered > 5
    assert before.ledger.duplicates == 0


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "tool"), FLAGS.items())
def test_every_flag_fires_on_its_planted_cause(findings: list[Any], kind: str, tool: str | None):
    """The planted cause of each flag is found, and named."""
    tools = [finding.tool for finding in findings if finding.kind == kind]
    assert tools
    assert tool in tools


@pytest.mark.slow
def test_flags_blame_nothing_else(findings: list[Any]):
    """The misclassification flags name no tool whose errors are classified rightly."""
    blamed = Counter(finding.tool for finding in findings if finding.kind.startswith("misclassified_should"))
    assert {"get_invoice", "render_report"} == set(blamed)


@pytest.mark.slow
def test_a_clean_run_is_silent(tmp_path: Path):
    """Where nothing goes wrong, nothing is found."""
    setting = Setting(plan=default_plan().healthy(), catalog=demo_catalog())
    played = play(setting, Case(Policy(), SEED, tmp_path / "traces"))
    assert played.tasks == played.diary.finished
    with analysis.open(played.case.traces) as traces:
        found = [finding for finding in traces.findings() if finding.severity != "info"]
    assert found == []


@pytest.mark.slow
def test_the_tuned_policy_beats_the_default_on_another_seed(before: Round, tmp_path: Path):
    """Tuned on one seed's traces, it gets more done with less waste under another seed's faults."""
    with analysis.open(before.case.traces) as traces:
        tuned = traces.tune().policy
    other = [
        _score(play(_setting(), Case(policy, SEED + 1, tmp_path / name)))
        for policy, name in ((Policy(), "default"), (tuned, "tuned"))
    ]
    verdicts = {line.label: line.verdict for line in compared(*other)}
    assert {
        "tasks finished": "better",
        "calls recovered": "better",
        "calls failed": "better",
    }.items() <= verdicts.items()
    assert {"wasted attempts": "better", "duplicate writes": "same"}.items() <= verdicts.items()
