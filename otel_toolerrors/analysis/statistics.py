"""The few statistics the findings need, each from its formula, so that no heavy library comes along.

The tests compare them with published examples and exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import erf, exp, lgamma, log, log1p, sqrt
from random import Random
from typing import TypeVar

_Cluster = TypeVar("_Cluster")

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


def two_proportions(hits: tuple[int, int], trials: tuple[int, int]) -> float:
    """Two-sided p-value of the pooled z test for equal proportions; 1 where either side is empty."""
    if 0 in trials:
        return 1.0
    pooled = sum(hits) / sum(trials)
    spread = sqrt(pooled * (1 - pooled) * (1 / trials[0] + 1 / trials[1]))
    if spread == 0:
        return 1.0
    z = (hits[0] / trials[0] - hits[1] / trials[1]) / spread
    return 2 * (1 - normal_below(abs(z)))


def newcombe(hits: tuple[int, int], trials: tuple[int, int]) -> Interval:
    """Interval of the difference of two proportions, first minus second, from Wilson intervals (Newcombe 1998)."""
    a, b = wilson(hits[0], trials[0]), wilson(hits[1], trials[1])
    gap = a.value - b.value
    low = gap - sqrt((a.value - a.low) ** 2 + (b.high - b.value) ** 2)
    high = gap + sqrt((a.high - a.value) ** 2 + (b.value - b.low) ** 2)
    return Interval(gap, low, high)


def normal_below(z: float) -> float:
    """Probability that a standard normal value is below ``z``."""
    return (1 + erf(z / sqrt(2))) / 2


def quantile(values: Iterable[float], share: float) -> float:
    """Quantile by linear interpolation, as DuckDB's ``quantile_cont``; 0 of nothing."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def spread(values: Sequence[float], level: float = 0.9) -> Interval:
    """The mean of simulated values, and the range that holds ``level`` of them."""
    tail = (1 - level) / 2
    mean = sum(values) / len(values) if values else 0.0
    return Interval(mean, quantile(values, tail), quantile(values, 1 - tail), level)


def cluster_bootstrap(
    clusters: Sequence[_Cluster],
    estimate: Callable[[Sequence[_Cluster]], float | None],
    random: Random,
    rounds: int = 1000,
) -> Interval | None:
    """Percentile interval of an estimate over clusters such as runs; None where the estimate has no value.

    Clusters are drawn whole, because the calls of one run are not independent.
    """
    value = estimate(clusters)
    if value is None:
        return None
    drawn = (estimate(random.choices(clusters, k=len(clusters))) for _ in range(rounds))
    values = [one for one in drawn if one is not None]
    return Interval(value, quantile(values, 0.025), quantile(values, 0.975))


def seeded(*parts: object) -> Random:
    """Make a random source that is the same for the same parts."""
    return Random(" ".join(map(str, parts)))  # noqa: S311 - it draws samples and protects nothing
