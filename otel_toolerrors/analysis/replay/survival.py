"""How long failures last, estimated from brackets: each is known to end after one moment, and by another."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf

Interval = tuple[float, float]
"""Seconds that it lasted: longer than the first number, at most the second, which may be infinite."""

_ROUNDS = 200
_SETTLED = 1e-4
"""A change of the masses, in sum, below which another round changes no answer."""
_SCALE = 1.0
"""Seconds below which an interval is cut evenly, and above which by doublings."""


@dataclass(frozen=True, slots=True)
class Durations:
    """How probable each of a few disjoint intervals is."""

    intervals: tuple[Interval, ...]
    """In order; durations end in one of them."""
    passed: tuple[float, ...]
    """The share that ended before each, and at last the whole."""

    def draw(self, bracket: Interval, u: float) -> float:
        """Draw a duration within ``bracket`` from ``u`` in [0, 1): never a longer one than anybody saw end."""
        low, high = _within(self.intervals, bracket)
        before, until = self.passed[low], self.passed[high]
        if until <= before:
            return inf if bracket[1] == inf else by_doublings(bracket, u)
        sought = before + u * (until - before)
        place = min(bisect_right(self.passed, sought, low, high) - 1, high - 1)
        mass = self.passed[place + 1] - self.passed[place]
        found = self.intervals[place]
        return inf if found[1] == inf else by_doublings(found, (sought - self.passed[place]) / mass)


def by_doublings(interval: Interval, u: float) -> float:
    """A place in an interval of which nothing else is known: outages have no scale of their own."""
    low, high = interval[0] + _SCALE, interval[1] + _SCALE
    place = float(low * (high / low) ** u - _SCALE)
    return min(max(place, interval[0]), interval[1])  # rounding may leave it


def self_consistent(brackets: Sequence[Interval], weights: Sequence[float]) -> Durations:
    """Estimate by maximum likelihood (Turnbull 1976): the product-limit estimate where ends are bracketed, not seen.

    Each bracket is shared out among the innermost intervals in it, by the mass that they have; the masses are the
    sums of what they were given, and so on until they stay as they are.
    """
    intervals = _innermost(brackets)
    places = [_within(intervals, bracket) for bracket in brackets]
    total = sum(weights)
    masses = [1 / len(intervals)] * len(intervals)
    for _ in range(_ROUNDS):
        passed = [0.0, *accumulate(masses)]
        # What a bracket gives each interval is the same share of its mass: sum the shares from left to right.
        steps = [0.0] * (len(intervals) + 1)
        for (low, high), weight in zip(places, weights, strict=True):
            share = weight / total / max(passed[high] - passed[low], 1e-300)
            steps[low] += share
            steps[high] -= share
        shared = [mass * share for mass, share in zip(masses, accumulate(steps), strict=False)]
        change = sum(abs(new - old) for new, old in zip(shared, masses, strict=True))
        masses = shared
        if change < _SETTLED:
            break
    return Durations(intervals, (0.0, *accumulate(masses)))


def _innermost(brackets: Sequence[Interval]) -> tuple[Interval, ...]:
    """The intervals between a bracket's beginning and an end that directly follows it: more is not known of any."""
    begins, ends = ({bracket[side] for bracket in brackets} for side in (0, 1))
    # At one moment an end comes first: it belongs to its bracket, a beginning does not.
    marks = sorted([(at, True) for at in begins] + [(at, False) for at in ends])
    return tuple((low, high) for (low, begin), (high, also) in pairwise(marks) if begin and not also)


def _within(intervals: Sequence[Interval], bracket: Interval) -> tuple[int, int]:
    """The places of the intervals that lie in a bracket: from the first, up to the second."""
    low = bisect_left(intervals, bracket[0], key=lambda interval: interval[0])
    return low, max(low, bisect_right(intervals, bracket[1], key=lambda interval: interval[1]))
