"""Whether runs that the search has not seen support a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolerrors.analysis.patch import Change
from otel_toolerrors.analysis.replay import Replayer
from otel_toolerrors.analysis.statistics import quantile, seeded
from otel_toolerrors.policy import Policy

from .knobs import changed
from .objective import Objective

_REPLICAS = 5
_BLOCKS = 20
_ROUNDS = 500
_DOUBT = 0.1
"""A change is refused if it costs more than it saves in over a tenth of the resampled periods."""


@dataclass(frozen=True, slots=True)
class Gain:
    """How much loss a change saves on the held-out runs."""

    mean: float
    low: float
    """What nine tenths of the resampled periods save, or more."""

    @property
    def supported(self) -> bool:
        """Whether the held-out runs speak for it."""
        return self.mean > 0 and self.low >= 0


class Check:
    """Compares policies on held-out runs, in blocks of time: what goes wrong together is drawn together."""

    def __init__(self, replayer: Replayer, base: Policy, goal: Objective) -> None:
        self._replayer = replayer
        self._base = base
        self._goal = goal
        runs = list(dict.fromkeys(script.recorded.run for script in replayer.scripts))
        size = max(1, -(-len(runs) // _BLOCKS))
        self._block = {run: place // size for place, run in enumerate(runs)}
        self._known: dict[frozenset[tuple[tuple[str, ...], float]], list[float]] = {}

    def gain(self, changes: Sequence[Change], without: Change | None = None) -> Gain:
        """What all the changes save, or what one of them adds to the others."""
        others = [] if without is None else [change for change in changes if change.path != without.path]
        before, after = self._losses(others), self._losses(changes)
        saved = [b - a for b, a in zip(before, after, strict=True)]
        random = seeded("blocks", self._replayer.seed)
        sums = [sum(random.choices(saved, k=len(saved))) for _ in range(_ROUNDS)]
        return Gain(sum(saved), quantile(sums, _DOUBT))

    def _losses(self, changes: Sequence[Change]) -> list[float]:
        """The loss in each block, as the mean of the replicas."""
        key = frozenset((change.path, change.value) for change in changes)
        if key not in self._known:
            policy, losses = changed(self._base, changes), [0.0] * (max(self._block.values(), default=-1) + 1)
            for replica in range(_REPLICAS):
                for run, measures in self._replayer.tally(policy, replica).by_run().items():
                    losses[self._block[run]] += self._goal.loss(measures) / _REPLICAS
            self._known[key] = losses
        return self._known[key]
