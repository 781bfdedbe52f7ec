"""What a good policy keeps small."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from otel_toolerrors.analysis.replay import Measures


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """The loss of a policy: each measure times its weight, added up. The unit is one failed call.

    By default, 50 s of waiting or ten attempts on a sick service are as bad as one failed call, and nothing is
    worth writing twice. The weights are a choice of ours; state your own. What others would choose, and at what
    price, is in `Tuned.candidates`.
    """

    failed: float = 1.0
    cut_off: float = 1.0
    wasted_attempts: float = 0.05
    sick_attempts: float = 0.1
    added_latency: float = 0.02
    duplicate_risk: float = 100.0

    def loss(self, measures: Measures) -> float:
        """The weighted sum."""
        return float(sum(weight * getattr(measures, name) for name, weight in asdict(self).items()))

    def thriftier(self, factor: float) -> Objective:
        """The same with load and waiting weighed differently against failed calls."""
        return Objective(
            failed=self.failed,
            cut_off=self.cut_off,
            wasted_attempts=self.wasted_attempts * factor,
            sick_attempts=self.sick_attempts * factor,
            added_latency=self.added_latency * factor,
            duplicate_risk=self.duplicate_risk,
        )
