"""From traces to a better policy file, with a reason for each number."""

from __future__ import annotations

from .knobs import changed
from .objective import Objective
from .tune import tune
from .tuned import Candidate, Comparison, Refusal, Tuned

__all__ = ["Candidate", "Comparison", "Objective", "Refusal", "Tuned", "changed", "tune"]
