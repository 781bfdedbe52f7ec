"""The statistics, against published numbers and exact arithmetic."""

from fractions import Fraction
from math import comb
from random import Random

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.analysis import statistics as own

COUNTS = st.integers(0, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SHARES = st.floats(0.01, 0.99)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (1, 10, 0.0179, 0.4042), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)],
)
def test_wilson_gives_the_published_interval(successes, trials, low, high):
    """The score interval is the one in the tables (Newcombe 1998, table I, and R's prop.test without correction)."""
    interval = own.wilson(successes, trials)

    assert (low, high) == pytest.approx((interval.low, interval.high), abs=1e-4)


@given(COUNTS)
def test_wilson_holds_the_share_and_stays_a_share(counts):
    """The interval lies in [0, 1] and holds what was seen; nothing seen leaves everything open."""
    interval = own.wilson(*counts)

    assert 0 <= interval.low <= interval.value <= interval.high <= 1
    assert (interval.high - interval.low == 1) == (counts[1] == 0)


@given(COUNTS, st.integers(1, 99))
def test_the_exact_tests_are_exact(counts, percent):
    """Both one-sided binomial tests give the sum that rational arithmetic gives."""
    (successes, trials), share = counts, Fraction(percent, 100)
    terms = [comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(trials + 1)]

    assert float(sum(terms[successes:])) == pytest.approx(own.at_least(successes, trials, percent / 100), abs=1e-9)
    assert float(sum(terms[: successes + 1])) == pytest.approx(own.at_most(successes, trials, percent / 100), abs=1e-9)


@given(COUNTS, SHARES)
def test_the_two_exact_tests_share_what_was_seen(counts, share):
    """The two tails overlap in the observed count alone, so they add up to one plus its probability."""
    both = own.at_least(*counts, share) + own.at_most(*counts, share)

    assert both == pytest.approx(1 + own._binomial(*counts, share), abs=1e-9)


def test_discoveries_follow_benjamini_and_hochberg():
    """The example of the 1995 paper: of fifteen tests, the four smallest count at 5 %."""
    p_values = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0,
    ]  # fmt: skip

    assert [True] * 4 + [False] * 11 == own.discoveries(p_values, 0.05)


def test_discoveries_do_not_depend_on_order():
    """A test counts by its p-value, wherever it stands."""
    p_values = [0.3, 0.001, 0.9, 0.004]

    assert [False, True, False, True] == own.discoveries(p_values, 0.05)
    assert [] == own.discoveries([], 0.05)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (1.0, 4.0)])
def test_quantiles_interpolate(share, expected):
    """Between two values the quantile lies on the line."""
    assert expected == own.quantile([4.0, 1.0, 3.0, 2.0], share)


def test_a_spread_holds_another_value_at_its_level():
    """Of 4,000 times that twenty values and one more are drawn, the one more is in the range nine times in ten."""
    random = Random(7)
    held = 0
    for _ in range(4000):
        spread = own.spread([random.lognormvariate(0, 1) for _ in range(20)])
        held += spread.low <= random.lognormvariate(0, 1) <= spread.high

    assert held / 4000 == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize(("count", "level"), [(1, 0.0), (5, 4 / 6), (19, 0.9), (200, 0.9)])
def test_a_spread_of_few_values_says_what_its_range_holds(count, level):
    """Up to nineteen values, the range is all of them, and the level is what that comes to."""
    spread = own.spread([float(value) for value in range(count)])

    assert spread.level == pytest.approx(level)
    assert spread.high - spread.low == pytest.approx(min(count - 1, 0.9 * (count + 1)))
    assert spread.value == (count - 1) / 2


def test_calls_of_one_run_count_as_one_witness():
    """Runs whose calls all say the same leave far more open than as many independent calls."""
    first, second = [(20 * k, 20) for k in (0, 1, 0, 0, 1, 0)], [(20 * k, 20) for k in (1, 1, 0, 1, 0, 1)]
    clustered = own.clustered_difference(first, second)
    alone = own.clustered_difference(
        [(k, 1) for k in [0, 1, 0, 0, 1, 0] * 20], [(k, 1) for k in [1, 1, 0, 1, 0, 1] * 20]
    )

    assert clustered is not None
    assert alone is not None
    assert clustered.interval.value == pytest.approx(alone.interval.value)
    assert clustered.p_value > 0.2
    assert alone.p_value < 1e-6


def test_a_clustered_interval_covers_at_its_nominal_rate():
    """Of 400 simulated comparisons without a difference, about one in twenty is called significant."""
    random = Random(11)

    def runs():
        shares = [random.betavariate(2, 2) for _ in range(40)]
        return [(sum(random.random() < share for _ in range(5)), 5) for share in shares]

    wrong = sum(own.clustered_difference(runs(), runs()).p_value < 0.05 for _ in range(400))

    assert 8 <= wrong <= 36


def test_too_few_clusters_say_nothing():
    """One run on a side, or no calls, is no comparison."""
    assert own.clustered_difference([(1, 2)], [(1, 2), (0, 2)]) is None
    assert own.clustered_difference([(0, 0), (0, 0)], [(1, 2), (0, 2)]) is None
    assert own.clustered_difference([(0, 2), (0, 2)], [(0, 2), (0, 2)]) == own.Difference(own.Interval(0, 0, 0), 1.0)
