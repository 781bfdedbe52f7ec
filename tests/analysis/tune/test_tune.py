"""Tuning: better numbers where the held-out runs support them, and none where they do not."""

import tomllib
from dataclasses import replace

import pytest

from benchmarks.fleet import Fleet
from benchmarks.plants import UNAVAILABLE, Trouble
from otel_toolerrors.analysis.patch import Change
from otel_toolerrors.analysis.replay import Replayed
from otel_toolerrors.analysis.tune import Candidate, Comparison, Objective, changed
from otel_toolerrors.analysis.tune.check import Check
from otel_toolerrors.analysis.tune.tuned import pareto
from otel_toolerrors.policy import Policy, load_policy, parse_policy
from tests.analysis.fleets import planted, traces_of

OUTAGES = Trouble("search", UNAVAILABLE, outages=tuple((start / 10, start / 10 + 0.01) for start in range(1, 10)))
SURFACE = Policy.model_validate(
    {"run": {"stop_on": [], "tool_failures": 50, "corrections_in_a_row": 50, "corrections": 50}}
)


def fleet(seed: int, policy: Policy = SURFACE) -> Fleet:
    """Nine outages of 15 s, longer than the default retries wait for."""
    return Fleet(runs=300, seed=seed, every=5.0, policy=policy, ordinary=(OUTAGES,))


def failed(traces):
    """Calls that ended badly, or were never made because a run had stopped."""
    return traces.sql("SELECT count(*) FROM calls WHERE outcome NOT IN ('ok', 'recovered')").fetchall()[0][0]


@pytest.fixture(scope="module")
def tuned():
    """A policy tuned on the first seed."""
    return traces_of(fleet(1)).tune(policy=SURFACE)


def test_a_tuned_policy_beats_the_default_on_another_seed(tuned):
    """In fleets that really run, fewer calls fail under the tuned policy, on traffic that it has not seen."""
    before, after = failed(traces_of(fleet(2))), failed(traces_of(fleet(2, tuned.policy)))

    assert tuned.changes
    assert after < before / 2


def test_the_file_is_a_policy_with_a_reason_above_each_number(tuned):
    """What is written parses to the tuned policy, and each changed key stands under a comment."""
    lines = tuned.toml().splitlines()

    assert parse_policy(tuned.toml()) == tuned.policy
    for change in tuned.changes:
        place = next(n for n, line in enumerate(lines) if line.startswith(f"{change.path[-1]} = {change.value}"))
        assert lines[place - 1].startswith("# ")
        assert "held-out" in change.reason


def test_nothing_is_recommended_without_evidence():
    """A fleet whose default policy is good enough gets no change, or only what held-out runs support."""
    tuned = planted().tune()

    assert tuned.held_out.after.failed <= tuned.held_out.before.failed
    assert Policy.model_validate(tomllib.loads(tuned.toml())) == tuned.policy


def test_the_same_traces_give_the_same_policy():
    """Nothing but the seed decides."""
    traces = planted("should_not_retry", runs=60)

    assert traces.tune(seed=3).toml() == traces.tune(seed=3).toml()


def test_a_policy_file_is_not_overwritten(tuned, tmp_path):
    """The second write says that there is a file."""
    path = tuned.write(tmp_path / "toolerrors.toml")

    assert load_policy(path) == tuned.policy
    with pytest.raises(FileExistsError):
        tuned.write(path)


def test_the_base_policy_is_kept(tuned):
    """What the search does not touch stays as it was, also in the file."""
    base = parse_policy("[run]\ntool_failures = 7\n[tools.search]\noptional = true\n")
    policy = changed(base, tuned.changes)

    assert policy.run.tool_failures == 7
    assert policy.tools["search"].optional is True


def test_progress_is_told():
    """The share that is told grows to one."""
    told = []
    planted(runs=60).tune(progress=told.append)

    assert told == sorted(told)
    assert told[-1] == 1.0


def test_no_traces_support_no_change():
    """Without runs there is nothing to tune, and nothing fails."""
    tuned = traces_of(Fleet(runs=0)).tune()

    assert tuned.changes == ()
    assert parse_policy(tuned.toml()) == Policy()


def test_a_change_that_pays_only_in_some_periods_is_refused():
    """A gain in one block of time does not outweigh losses that come back in others."""

    class Blocks(Check):
        def __init__(self, saved):
            self._saved = saved
            self._replayer = type("Replayer", (), {"seed": 0})()

        def _losses(self, changes):
            return [0.0 if changes else saved for saved in self._saved]

    change = Change(("retry", "max_attempts"), 5)

    assert Blocks([1.0] * 20).gain([change]).supported
    assert not Blocks([30.0] + [-1.0] * 19).gain([change]).supported
    assert not Blocks([0.0] * 20).gain([change]).supported


def _measures(**values):
    measures = object.__new__(Replayed)
    for name, value in values.items():
        object.__setattr__(measures, name, value)
    return measures


def test_the_front_holds_what_nothing_beats():
    """A candidate that is worse in everything is left out; trade-offs stay."""

    def candidate(failed, latency, wasted):
        measures = _measures(failed=failed, cut_off=0, added_latency=latency, wasted_attempts=wasted)
        return Candidate("", (), measures)

    front = pareto([candidate(5, 10, 1), candidate(4, 20, 1), candidate(6, 30, 2), candidate(5, 10, 1)])

    assert [(one.measures.failed, one.measures.added_latency) for one in front] == [(4, 20), (5, 10)]


def test_the_price_is_waiting_for_each_failed_call_fewer(tuned):
    """Three calls fewer for 60 s cost 20 s each; nothing has a price that saves time as well."""
    before = _measures(failed=10, cut_off=2, added_latency=100.0)
    dear = _measures(failed=8, cut_off=1, added_latency=160.0)
    free = _measures(failed=8, cut_off=1, added_latency=90.0)
    prices = [replace(tuned, held_out=Comparison(runs=1, before=before, after=after)).price for after in (dear, free)]

    assert prices == [20.0, None]


def test_weights_decide_what_is_worth_waiting_for():
    """The objective adds up weighted measures, and a thriftier one charges more for load and waiting."""
    measures = planted(runs=60).replay(Policy(), replicas=1).replicas[0]

    assert Objective(added_latency=1.0).loss(measures) > Objective(added_latency=0.0).loss(measures)
    assert Objective().thriftier(10.0).loss(measures) > Objective().loss(measures)
