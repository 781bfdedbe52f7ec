"""How long failures lasted, drawn where only brackets are known: each ended after one moment, and by another.

Of their distribution nothing is assumed, but a Dirichlet process (Ferguson 1973) around one that is even over the
doublings of time: outages have no scale of their own. Given the brackets they are drawn by Gibbs sampling (Doss 1994):
one after the other, given all others, from the urn of Blackwell and MacQueen (1973) as far as it lies in the bracket.
The urn holds the other durations, and a fresh one by a weight. As that weight goes to nothing, and where ends were
seen, the mean of the draws goes to the product-limit estimate (Susarla and Van Ryzin 1976).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from math import inf, log2
from random import Random

Interval = tuple[float, float]
"""Seconds that it lasted: longer than the first number, at most the second, which may be infinite."""

_FRESH = 1.0
"""What a fresh duration weighs, were it free to be any: as much as one failure."""
_SWEEPS = 10
"""Rounds in which each is drawn again, after it was first drawn given only those before it."""
_SCALE = 1.0
"""Seconds below which time is even, and above which by doublings."""


def drawn_together(brackets: Sequence[Interval], random: Random) -> list[float]:
    """Draw how long each lasted, within its bracket: no longer than the longest that was seen to end, or forever."""
    longest = max((high for _, high in brackets if high < inf), default=0.0)
    urn: list[float] = []  # in order
    durations: list[float] = []
    for bracket in brackets:
        durations.append(_draw(urn, bracket, longest, random))
        insort(urn, durations[-1])
    for _ in range(_SWEEPS):
        for place, bracket in enumerate(brackets):
            del urn[bisect_left(urn, durations[place])]
            durations[place] = _draw(urn, bracket, longest, random)
            insort(urn, durations[place])
    return durations


def _draw(urn: Sequence[float], bracket: Interval, longest: float, random: Random) -> float:
    """Draw one, given the others."""
    low, high = bracket
    fresh = (low, min(high, longest))
    weight = _FRESH * _doublings(fresh) / _doublings((0.0, longest)) if low < fresh[1] else 0.0
    begin, end = bisect_right(urn, low), bisect_right(urn, high)
    lot = random.random() * (weight + end - begin)
    if lot < weight:
        return _after(fresh, lot / weight)
    return urn[min(begin + int(lot - weight), end - 1)] if begin < end else high


def _doublings(interval: Interval) -> float:
    """How often time doubles in an interval."""
    return log2((interval[1] + _SCALE) / (interval[0] + _SCALE))


def _after(interval: Interval, share: float) -> float:
    """The moment at which a share of the doublings is over."""
    low, high = interval
    moment = float((low + _SCALE) * 2 ** (share * _doublings(interval)) - _SCALE)
    return min(max(moment, low), high)  # rounding may leave it
