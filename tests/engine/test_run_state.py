"""The counters of one run, and what they answer."""

from otel_toolerrors.engine import Failure, RunState, Stop
from otel_toolerrors.faults import classify
from otel_toolerrors.policy import RunPolicy

FAULT = classify(ValueError("bad"))


def test_log_names_tool_and_target():
    """A failure is found again by what was called and what it was aimed at, and by nothing less."""
    run = RunState(RunPolicy(tool_failures=100, corrections=100, corrections_in_a_row=100))
    for tool, target in (("a", "x"), ("a", "y"), ("b", "x")):
        run.failed(tool, target, FAULT)
    assert [Failure("a", "x", FAULT)] == run.previous("a", "x")
    assert [] == run.previous("b", "y")


def test_success_clears_the_row_over_all_tools():
    """After a success the next failure is the first in a row again."""
    run = RunState(RunPolicy(corrections_in_a_row=2))
    run.failed("a", "x", FAULT)
    run.succeeded("other")
    assert (2, None) == run.failed("a", "x", FAULT)
    run.succeeded("never failed")
    assert "run_breaker" == run.failed("a", "x", FAULT)[1]


def test_each_tool_has_a_row_of_its_own():
    """Another tool's success ends no row but its own; the tool's own success does, whoever worked in between."""
    run = RunState(RunPolicy(tool_failures=2, corrections_in_a_row=100))
    run.failed("a", "x", FAULT)
    run.succeeded("b")
    run.succeeded("a")
    assert (1, None) == run.failed("a", "x", FAULT)


def test_the_first_reason_stays():
    """A run stops once; later stops change nothing and say so."""
    run = RunState(RunPolicy())
    first, second = Stop("permission", "a", FAULT), Stop("aborted", "b")
    assert [True, False] == [run.stop(first), run.stop(second)]
    assert first is run.stopped


def test_a_tool_is_given_up_once():
    """The second time says that it was off already."""
    run = RunState(RunPolicy())
    assert [True, False] == [run.degrade("a"), run.degrade("a")]
