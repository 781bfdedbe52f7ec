"""Replay: what it reads off the trace, what it models, and how well that agrees with a fleet that really ran so."""

import pytest

from benchmarks.fleet import START, Fleet
from benchmarks.replays import fleet, tell
from otel_toolerrors.analysis.patch import Change
from otel_toolerrors.analysis.replay import Replayer, record
from otel_toolerrors.analysis.tune import changed
from otel_toolerrors.policy import Policy, parse_policy
from tests.analysis.fleets import planted, traces_of


@pytest.fixture(scope="module")
def traces():
    """What the fleet recorded under the default policy, but that no failure stops a run."""
    return traces_of(fleet())


@pytest.fixture(scope="module")
def in_force():
    """The policy that the traces were recorded under."""
    return fleet().policy


def outcomes(traces):
    """Calls by outcome, as recorded."""
    return dict(traces.sql("SELECT outcome, count(*) FROM calls GROUP BY outcome").fetchall())


def test_the_recorded_policy_gives_the_recorded_outcomes(traces, in_force):
    """Replayed under the policy in force, calls end as they did, but for those that jitter decides."""
    seen, replayed = outcomes(traces), traces.replay(in_force)

    assert replayed.calls == sum(seen.values())
    assert replayed.failed == pytest.approx(seen["surfaced"], rel=0.1)
    assert replayed.recovered == pytest.approx(seen["recovered"], rel=0.25)
    assert replayed.exact > 0.95


def test_fewer_attempts_are_exact():
    """What would have happened with one attempt stands in the traces: nothing is modelled."""
    recorded = fleet("[breaker]\ncontrol = 'disabled'\n")
    traces = traces_of(recorded)
    first_failed = traces.sql("SELECT count(*) FROM calls WHERE outcome <> 'ok'").fetchall()[0][0]
    replayed = traces.replay(changed(recorded.policy, [Change(("retry", "max_attempts"), 1)]), replicas=2)

    assert replayed.failed == first_failed
    assert replayed.wasted_attempts == 0
    assert replayed.exact == 1.0


OTHERS = pytest.mark.parametrize(
    "policy",
    [
        "[tools.search.retry]\nmax_attempts = 2\n",
        "[tools.search.retry]\nmax_attempts = 5\nbase_delay = 1.0\n[breaker]\ncontrol = 'disabled'\n",
        "[tools.search.retry]\nmax_attempts = 4\nbase_delay = 4.0\n[services.search-api.breaker]\ncooldown = 5.0\n",
    ],
)


@OTHERS
def test_a_replay_agrees_with_a_fleet_that_really_ran_under_the_policy(traces, policy):
    """Failed calls, in a fleet with the same outages that runs under the other policy, are about what replay says.

    Not quite: such a fleet differs by chance, and by when its calls begin once earlier ones take less time.
    """
    other = fleet(policy)
    truth = outcomes(traces_of(other))

    assert traces.replay(other.policy).failed == pytest.approx(truth.get("surfaced", 0), abs=15)


@OTHERS
def test_the_model_makes_up_for_not_knowing_when_outages_ended(traces, policy):
    """Told the true end of each outage, replay gives what it says without, within its interval."""
    other = fleet(policy)
    replayer = Replayer.of(record(traces))
    said = replayer.replay(other.policy).intervals["failed"]
    tell(replayer, other)

    assert said.low - 1 <= replayer.replay(other.policy, 5).failed <= said.high + 1


def test_a_call_s_own_fault_is_no_outage():
    """More patience does not mend what never works: a broken query is not taken for a sick service."""
    traces = planted("should_not_retry")
    retry = "[tools.query.retry]\nmax_attempts = 8\nbase_delay = 4.0\n"
    patient = parse_policy(f"[run]\nstop_on = []\n{retry}[breaker]\ncontrol = 'disabled'\n")
    before = outcomes(traces)
    replayed = traces.replay(patient, replicas=5)
    broken = traces.sql("SELECT count(*) FROM calls WHERE code = 'http.500'").fetchall()[0][0]

    assert broken > 10
    assert replayed.failed >= before["surfaced"] * 0.9


def test_a_policy_that_calls_a_write_a_read_is_charged_for_it():
    """Duplicate-write risk goes by the effects that were recorded."""
    traces = planted("double_write")
    reckless = parse_policy("[run]\nstop_on = []\n[tools.create_ticket]\neffects = 'read'\n")

    assert traces.replay(Policy(), replicas=1).duplicate_risk == 0
    assert traces.replay(reckless, replicas=1).duplicate_risk > 0


def test_the_same_seed_gives_the_same_answer(traces, in_force):
    """Replays can be compared: nothing but the seed decides."""
    first, second = (traces.replay(in_force, replicas=3, seed=5) for _ in range(2))

    assert first == second


def test_a_run_that_stops_earlier_cuts_off_its_later_calls(traces, in_force):
    """Calls after an earlier stop are counted as cut off, not as failed."""
    strict = changed(in_force, [Change(("run", "stop_on"), ["exhausted"])])
    replayed = traces.replay(strict, replicas=2)

    assert replayed.cut_off > 0
    assert replayed.calls == replayed.ok + replayed.recovered + replayed.failed + replayed.cut_off


def test_part_of_a_recording_keeps_the_model(traces, in_force):
    """A replay of some of the calls draws from the same outages."""
    whole = Replayer.of(record(traces))
    part = whole.only(lambda call: call.start < START + 750)

    assert part.replay(in_force, 2).calls < whole.replay(in_force, 2).calls
    assert part.outages is whole.outages


def test_no_traces_give_no_calls():
    """An empty recording is replayed without fuss."""
    traces = traces_of(Fleet(runs=0))

    assert traces.replay(Policy(), replicas=2).calls == 0
