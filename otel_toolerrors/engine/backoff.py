"""How long to wait before the next attempt."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from otel_toolerrors.policy import RetryPolicy


def backoff(policy: RetryPolicy, failures: int, random: Random, previous: float | None = None) -> float:
    """Seconds to wait after ``failures`` failed attempts (from 1).

    The base is ``min(base_delay * 2 ** (failures - 1), max_delay)`` (S1). Jitter spreads it:

    - ``none``: the base
    - ``proportional``: base to base * (1 + fraction) (S0, S1)
    - ``full``: 0 to base; ``equal``: base / 2 to base; ``decorrelated``: base_delay to three times the
      ``previous`` wait, within max_delay (Brooker, "Exponential Backoff and Jitter", AWS 2015)
    """
    # 2 ** 63 is past any cap, and a float; an unattended run may count further.
    base = min(policy.base_delay * 2.0 ** min(failures - 1, 63), policy.max_delay)
    return _JITTER[policy.jitter](policy, base, random, previous)


def _decorrelated(policy: RetryPolicy, _base: float, random: Random, previous: float | None) -> float:
    ceiling = 3 * (policy.base_delay if previous is None else previous)
    return min(policy.max_delay, random.uniform(policy.base_delay, max(policy.base_delay, ceiling)))


_JITTER: dict[str, Callable[[RetryPolicy, float, Random, float | None], float]] = {
    "none": lambda _policy, base, _random, _previous: base,
    "proportional": lambda policy, base, random, _previous: base + random.uniform(0, policy.jitter_fraction * base),
    "full": lambda _policy, base, random, _previous: random.uniform(0, base),
    "equal": lambda _policy, base, random, _previous: base / 2 + random.uniform(0, base / 2),
    "decorrelated": _decorrelated,
}
