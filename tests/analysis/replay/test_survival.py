"""The estimate from brackets: the product-limit one where ends were seen, and never outside what a bracket says."""

from math import inf, log

import pytest
from hypothesis import example, given, strategies as st

from otel_toolerrors.analysis.replay.survival import self_consistent

SECONDS = st.integers(0, 30).map(float)
BRACKETS = st.lists(
    st.tuples(SECONDS, st.integers(1, 20).map(float) | st.just(inf)).map(lambda pair: (pair[0], sum(pair))), min_size=1
)
SHARES = st.floats(0, 1, exclude_max=True)


def masses(durations):
    """How probable each interval is."""
    return [until - before for before, until in zip(durations.passed, durations.passed[1:], strict=False)]


def test_with_ends_that_were_seen_it_is_the_product_limit():
    """Three ends, and two failures last seen after the first and the second: 1/5, then 4/5 of 1/3, then the rest."""
    seen, censored = [(0.99, 1.0), (2.99, 3.0), (4.99, 5.0)], [(2.0, inf), (4.0, inf)]
    durations = self_consistent([*seen, *censored], [1.0] * 5)

    assert durations.intervals == tuple(seen)
    assert masses(durations) == pytest.approx([1 / 5, 4 / 15, 8 / 15], abs=1e-3)


def test_what_nobody_saw_ends_where_others_were_seen_to_end():
    """A failure that was over when the breaker let somebody look is placed by those that were watched."""
    watched = [(13.0, 14.0), (14.0, 15.0), (13.8, 15.0)]
    durations = self_consistent([*watched, (12.0, 72.0)], [1.0] * 4)

    assert all(13.0 < durations.draw((12.0, 72.0), u / 10) <= 15.0 for u in range(10))


def test_nothing_is_promised_beyond_what_was_seen():
    """A failure that outlasted all others, and was never seen to end, does not end."""
    durations = self_consistent([(1.0, 2.0), (5.0, inf)], [1.0, 1.0])

    assert durations.draw((5.0, inf), 0.5) == inf


@given(BRACKETS, SHARES)
@example([(25.0, 26.0)], 1 - 2**-53)
def test_a_draw_lies_in_its_bracket(brackets, u):
    """Whatever was seen, a failure lasts longer than it was seen to, and is over when it was seen to be."""
    durations = self_consistent(brackets, [1.0] * len(brackets))

    assert sum(masses(durations)) == pytest.approx(1.0)
    for low, high in brackets:
        assert low <= durations.draw((low, high), u) <= high


@given(BRACKETS, st.data())
def test_no_other_masses_make_what_was_seen_more_likely(brackets, data):
    """The estimate is that of maximum likelihood."""
    durations = self_consistent(brackets, [1.0] * len(brackets))
    found = masses(durations)
    others = data.draw(st.lists(st.floats(0.01, 1), min_size=len(found), max_size=len(found)))

    def likelihood(weights):
        within = (
            sum(w for (a, b), w in zip(durations.intervals, weights, strict=True) if low <= a and b <= high)
            for low, high in brackets
        )
        return sum(log(max(share, 1e-12) / sum(weights)) for share in within)

    assert likelihood(found) >= likelihood(others) - 0.05
