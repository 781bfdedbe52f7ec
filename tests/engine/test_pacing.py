from random import Random

from hypothesis import given, strategies as st

from otel_toolerrors.engine import Pacer


def test_way_is_free_until_somebody_is_told_to_wait():
    """No limit, no wait."""
    assert 0.0 == Pacer().wait(5.0, Random(0))


def test_everybody_waits_for_the_longest_limit():
    """A shorter wait that is told later does not shorten the longer one."""
    pacer = Pacer()
    pacer.limited(0.0, 10.0)
    pacer.limited(1.0, 2.0)
    assert 7.0 <= pacer.wait(3.0, Random(0)) <= 8.0
    assert 0.0 == pacer.wait(10.0, Random(0))


@given(
    now=st.floats(0, 1e6), wait=st.floats(0.001, 1e5), seeds=st.lists(st.integers(0, 2**32), min_size=5, unique=True)
)
def test_waiters_do_not_return_as_one(now, wait, seeds):
    """They leave over an extra tenth of the wait, none of them early."""
    pacer = Pacer()
    pacer.limited(now, wait)
    waits = [pacer.wait(now, Random(seed)) for seed in seeds]
    assert all(wait * 0.999 <= w <= wait * 1.101 for w in waits)
    assert len(set(waits)) > 1
