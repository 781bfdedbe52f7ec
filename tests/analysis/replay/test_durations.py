"""Durations drawn from brackets: within them, near those that were seen, and never beyond what was seen to end."""

from math import inf, log
from random import Random
from statistics import mean

import pytest
from hypothesis import example, given, strategies as st

from otel_toolerrors.analysis.replay.durations import drawn_together

SECONDS = st.integers(0, 30).map(float)
BRACKETS = st.lists(
    st.tuples(SECONDS, st.integers(1, 20).map(float) | st.just(inf)).map(lambda pair: (pair[0], sum(pair))), min_size=1
)
SEEDS = st.integers(0, 1000)
DRAWS = 500


def drawn(brackets, place):
    """What many replicas draw for one of the brackets."""
    return [drawn_together(brackets, Random(f"replica {seed}"))[place] for seed in range(DRAWS)]


@given(BRACKETS, SEEDS)
@example([(25.0, 26.0)], 0)
@example([(3.0, 3.0), (0.0, 5.0)], 0)
def test_a_draw_lies_in_its_bracket(brackets, seed):
    """Whatever was seen, a failure lasts longer than it was seen to, and is over when it was seen to be."""
    for (low, high), lasted in zip(brackets, drawn_together(brackets, Random(seed)), strict=True):
        assert low <= lasted <= high


@given(BRACKETS, SEEDS)
def test_nothing_is_promised_beyond_what_was_seen(brackets, seed):
    """A failure ends no later than the longest that was seen to end, or never."""
    longest = max((high for _, high in brackets if high < inf), default=0.0)

    for (_, high), lasted in zip(brackets, drawn_together(brackets, Random(seed)), strict=True):
        assert lasted <= longest or lasted == high == inf


@given(BRACKETS, SEEDS)
def test_the_same_seed_draws_the_same(brackets, seed):
    """Nothing but the seed decides."""
    assert drawn_together(brackets, Random(seed)) == drawn_together(brackets, Random(seed))


def test_a_failure_that_outlasted_all_others_does_not_end():
    """What was never seen to end, after the longest that was, is promised nothing."""
    assert set(drawn([(1.0, 2.0), (5.0, inf)], 1)) == {inf}


def test_what_nobody_saw_mostly_ends_where_others_were_seen_to_end():
    """A failure that was over when the breaker let somebody look is placed by those that were watched, or afresh."""
    ends = drawn([*[(14.0, 15.0)] * 8, (12.0, 72.0)], 8)
    near = sum(14.0 < end <= 15.0 for end in ends) / DRAWS
    expected = 8 / (8 + log(73 / 13) / log(73))  # one of the eight, or a fresh one within the bracket

    assert near == pytest.approx(expected, abs=0.04)


def test_what_no_other_failure_tells_is_even_over_doublings():
    """Alone in its bracket, a failure is as likely over in the first doubling of the time as in the second."""
    ends = drawn([(0.0, 15.0)], 0)

    for doubling in range(4):
        share = sum(2**doubling < end + 1 <= 2 ** (doubling + 1) for end in ends) / DRAWS
        assert share == pytest.approx(1 / 4, abs=0.06)


def test_of_many_failures_the_mean_is_the_product_limit():
    """Three ends, and two failures last seen after the first and the second: 1/5, then 4/5 of 1/3, then the rest."""
    seen, censored = [(0.99, 1.0), (2.99, 3.0), (4.99, 5.0)], [(2.0, inf), (4.0, inf)]
    brackets = [*seen, *censored] * 20
    draws = [drawn_together(brackets, Random(f"replica {seed}")) for seed in range(20)]
    shares = [mean(sum(low < one <= high for one in lasted) / 100 for lasted in draws) for low, high in seen]

    assert shares == pytest.approx([1 / 5, 4 / 15, 8 / 15], abs=0.02)


def test_more_failures_that_were_watched_say_more():
    """The draws for what nobody saw come closer together with every failure that was watched."""
    few, many = (drawn([*[(14.0, 15.0)] * watched, (12.0, 72.0)], watched) for watched in (1, 30))

    assert sum(end > 15.0 for end in few) > 5 * sum(end > 15.0 for end in many)
