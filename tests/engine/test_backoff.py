from random import Random

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.engine import backoff
from otel_toolerrors.policy import RetryPolicy

SEEDS = st.integers(0, 2**32)
ATTEMPTS = st.integers(1, 2_000)


def doubled(attempt: int) -> float:
    """The formula again, written another way: 500 ms shifted left, at most 32 s."""
    return min(500 << (attempt - 1), 32_000) / 1000


@given(ATTEMPTS)
def test_without_jitter_it_is_the_formula(attempt):
    """0.5 s, doubled with every failure, at most 32 s."""
    assert doubled(attempt) == backoff(RetryPolicy(jitter="none"), attempt, Random(0))


@pytest.mark.parametrize(
    ("jitter", "low", "high"), [("proportional", 1.0, 1.25), ("full", 0.0, 1.0), ("equal", 0.5, 1.0)]
)
@given(attempt=ATTEMPTS, seed=SEEDS)
def test_jitter_stays_in_its_band(jitter, low, high, attempt, seed):
    """Each kind of jitter has its own band around the formula."""
    delay = backoff(RetryPolicy(jitter=jitter), attempt, Random(seed))
    assert low * doubled(attempt) <= delay <= high * doubled(attempt)


@pytest.mark.parametrize(("jitter", "mean"), [("proportional", 1.125), ("full", 0.5), ("equal", 0.75)])
def test_jitter_is_spread_evenly(jitter, mean):
    """Over many draws the mean is the middle of the band."""
    random = Random(1)
    delays = [backoff(RetryPolicy(jitter=jitter), 3, random) for _ in range(4_000)]
    assert 2.0 * mean == pytest.approx(sum(delays) / len(delays), rel=0.03)


@given(seed=SEEDS, attempts=st.integers(1, 40))
def test_decorrelated_follows_the_previous_wait(seed, attempts):
    """Between the base and three times the wait before, within the ceiling."""
    random, previous = Random(seed), None
    policy = RetryPolicy(jitter="decorrelated")
    for attempt in range(1, attempts + 1):
        ceiling = 3 * (policy.base_delay if previous is None else previous)
        delay = backoff(policy, attempt, random, previous)
        assert policy.base_delay <= delay <= min(policy.max_delay, ceiling)
        previous = delay


def test_decorrelated_grows_from_the_wait_before():
    """Over many draws the mean is the middle between the base and three times the wait before."""
    random, policy = Random(1), RetryPolicy(jitter="decorrelated", base_delay=0.5, max_delay=100)
    delays = [backoff(policy, 2, random, 10.0) for _ in range(4_000)]
    assert (0.5 + 30) / 2 == pytest.approx(sum(delays) / len(delays), rel=0.03)
