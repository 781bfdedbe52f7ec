"""Calls of one run wait for each other: after a longer call the next begins later, and meets what was the case then."""

from otel_toolerrors.analysis.replay import RecordedCall, Recording, Replayer
from otel_toolerrors.analysis.replay.recorded import Try
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Policy

AWAY = Fault(
    category="transient", code="http.503", passing=True, side_effects="none", effects="read",
    message="away", fingerprint="away",
)  # fmt: skip


def call(run, start, answers, service="shop"):
    """A call that made an attempt each second, each of which failed (x) or worked (o)."""
    name = f"{run} {service} {start}"
    tries = [Try("look", start + n, start + n + 0.1, AWAY if one == "x" else None) for n, one in enumerate(answers)]
    return RecordedCall(
        trace_id=run, span_id=name, run=run, fleet="one", tool="look", service=service, effects="read", keyed=False,
        source="main_agent", target=name, start=start, end=tries[-1].end,
        outcome="surfaced" if answers[-1] == "x" else "ok", tries=tries,
    )  # fmt: skip


def replicas(calls, attempts, delay=0.01):
    """What was counted in each of a few replicas."""
    policy = Policy.model_validate({
        "retry": {"max_attempts": attempts, "base_delay": delay, "jitter": "none"},
        "breaker": {"control": "disabled"},
        "run": {"stop_on": []},
    })  # fmt: skip
    recording = Recording(sorted(calls, key=lambda one: one.start), {})
    return Replayer.of(recording).replay(policy, 10).replicas


def replayed(*arguments, **options):
    """Calls by ending, in each of a few replicas."""
    return {(one.ok, one.recovered, one.failed) for one in replicas(*arguments, **options)}


OUTAGE = [call("first", 0.0, "xx"), call("first", 2.0, "x"), call("second", 6.0, "o")]
"""A service that is away from 0 to 2 s at least, and back by 6 s."""


def test_a_call_begins_after_the_one_before_it_has_waited():
    """The first call waits until the service is back, and so the second never meets the outage."""
    assert replayed(OUTAGE, attempts=3, delay=4.0) == {(2, 1, 0)}


def test_no_call_begins_earlier_than_it_did():
    """With fewer attempts the first call is done earlier; the second fails where the trace says so."""
    assert replayed(OUTAGE, attempts=1) == {(1, 0, 2)}


def test_calls_side_by_side_do_not_wait_for_each_other():
    """A call that began before the first one ended begins when it did, and meets the outage."""
    assert replayed([*OUTAGE, call("first", 0.5, "x")], attempts=3, delay=4.0) == {(2, 2, 0)}


def test_runs_do_not_wait_for_each_other():
    """Another run goes on while the first one waits."""
    assert replayed([*OUTAGE, call("third", 1.5, "x")], attempts=3, delay=4.0) == {(2, 2, 0)}


def test_a_call_that_begins_later_may_meet_an_outage_that_it_did_not():
    """What worked at 5 s, and would now begin at 14 s, fails if the service was away then."""
    away = [call("third", 10.0, "x", service="mail"), call("fourth", 16.0, "x", service="mail")]
    back = call("fifth", 20.0, "o", service="mail")
    later = call("first", 5.0, "o", service="mail")

    assert replayed([*OUTAGE, *away, back, later], attempts=2, delay=10.0) == {(3, 4, 0)}
    assert replayed([*OUTAGE, *away, back], attempts=2, delay=10.0) == {(3, 3, 0)}


def test_a_moved_call_that_nobody_saw_fail_is_modelled():
    """That its service works later as well is likely, and not in the trace: one of four calls."""
    calls = [*OUTAGE, call("first", 5.0, "o", service="mail")]

    assert {one.exact for one in replicas(calls, attempts=2, delay=10.0)} == {0.75}
    assert {one.exact for one in replicas(calls, attempts=1)} == {1.0}
