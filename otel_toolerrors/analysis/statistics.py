"""The few statistics the findings need, each from its formula, so that no heavy library comes along.

The tests compare them with published examples and exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import erf, exp, lgamma, log, log1p, sqrt
from random import Random

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution: two-sided 95 %."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value that was estimated, and the range that the evidence leaves open."""

    value: float
    low: float
    high: float
    level: float = 0.95

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%}–{self.high:.0%})"


def wilson(successes: int, trials: int, z: float = Z95) -> Interval:
    """Score interval of a proportion (Wilson 1927): honest for few trials and near 0 and 1."""
    if trials == 0:
        return Interval(0.0, 0.0, 1.0)
    share, square = successes / trials, z * z
    scale = 1 + square / trials
    centre = (share + square / (2 * trials)) / scale
    half = z / scale * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(share, low, high)


def at_least(successes: int, trials: int, share: float) -> float:
    """P-value of the exact binomial test against "the true share is at most ``share``"."""
    return min(1.0, sum(_binomial(k, trials, share) for k in range(successes, trials + 1)))


def at_most(successes: int, trials: int, share: float) -> float:
    """P-value of the exact binomial test against "the true share is at least ``share``"."""
    return min(1.0, sum(_binomial(k, trials, share) for k in range(successes + 1)))


def _binomial(k: int, n: int, p: float) -> float:
    if p in (0.0, 1.0):
        return float(k == (n if p else 0))
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))


def discoveries(p_values: Sequence[float], rate: float = 0.05) -> list[bool]:
    """Which of many tests count, so that of those about ``rate`` are false at most (Benjamini–Hochberg 1995)."""
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    passed = [rank for rank, i in enumerate(ranked, start=1) if p_values[i] <= rate * rank / len(ranked)]
    kept = set(ranked[: max(passed, default=0)])
    return [i in kept for i in range(len(p_values))]


def normal_below(z: float) -> float:
    """Probability that a standard normal value is below ``z``."""
    return (1 + erf(z / sqrt(2))) / 2


def quantile(values: Iterable[float], share: float) -> float:
    """Quantile by linear interpolation, as DuckDB's ``quantile_cont``; 0 of nothing."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return _between(ordered, share * (len(ordered) - 1))


def spread(values: Sequence[float], level: float = 0.9) -> Interval:
    """The mean of simulated values, and the range in which another one falls with probability ``level``.

    Another one is below the k-th smallest of n with probability k / (n + 1) (Wilks 1941). Nine in ten take 19
    values; of fewer it is the whole range, and ``level`` in the result is what that comes to.
    """
    ordered, count = sorted(values), len(values)
    if not ordered:
        return Interval(0.0, 0.0, 0.0, level)
    level = min(level, (count - 1) / (count + 1))
    place = max(0.0, (1 - level) / 2 * (count + 1) - 1)
    low, high = (_between(ordered, at) for at in (place, count - 1 - place))
    return Interval(sum(ordered) / count, low, high, level)


def _between(ordered: Sequence[float], place: float) -> float:
    """The value at a place, which may lie between two."""
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@dataclass(frozen=True, slots=True)
class Difference:
    """Two shares compared: the second minus the first."""

    interval: Interval
    p_value: float
    """Two-sided, of no difference."""


def clustered_difference(first: Sequence[Cluster], second: Sequence[Cluster]) -> Difference | None:
    """Compare two shares of trials that come in clusters, such as the calls of runs.

    Calls of one run are not independent: the variance is that of the ratio estimator over whole clusters
    (Cochran 1977, 6.4). None where a side has fewer than two clusters or no trials.
    """
    sides = [_ratio(first), _ratio(second)]
    if None in sides:
        return None
    (before, spread_before), (after, spread_after) = sides  # type: ignore[misc]
    gap, error = after - before, sqrt(spread_before + spread_after)
    if error == 0:
        return Difference(Interval(gap, gap, gap), 1.0 if gap == 0 else 0.0)
    p_value = 2 * (1 - normal_below(abs(gap) / error))
    return Difference(Interval(gap, gap - Z95 * error, gap + Z95 * error), p_value)


Cluster = tuple[int, int]
"""Hits and trials of one cluster."""


def _ratio(clusters: Sequence[Cluster]) -> tuple[float, float] | None:
    """The share, and its variance over clusters."""
    count, trials = len(clusters), sum(n for _, n in clusters)
    if count < 2 or trials == 0:  # noqa: PLR2004 - a variance needs two
        return None
    share = sum(k for k, _ in clusters) / trials
    square = sum((k - share * n) ** 2 for k, n in clusters)
    return share, square / trials**2 * count / (count - 1)


def seeded(*parts: object) -> Random:
    """Make a random source that is the same for the same parts."""
    return Random(" ".join(map(str, parts)))  # noqa: S311 - it draws samples and protects nothing
