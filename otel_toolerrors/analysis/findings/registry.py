"""The table of findings: each kind, and what looks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import (
    breaker_flapping,
    breaker_trips,
    budget_waste,
    duplicate_write_risk,
    injection_effect,
    injection_overhead,
    misclassified_should_not_retry,
    misclassified_should_retry,
    misclassified_signals_disagree,
    permission_drift,
    rate_limit_storm,
    regression,
    retry_after_ignored,
    retry_storm,
    stale_suggestion,
    uncaught_loop,
    unknown_cluster,
)
from .finding import Finding
from .options import Options
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

Detector = Callable[["Traces", Options], Iterable[Finding | Tested]]
"""Reads the views, and yields findings; or tests, of which those count that hold among all tests of the kind."""

DETECTORS: Mapping[str, Detector] = MappingProxyType(
    {
        "misclassified_should_retry": misclassified_should_retry.look,
        "misclassified_should_not_retry": misclassified_should_not_retry.look,
        "misclassified_signals_disagree": misclassified_signals_disagree.look,
        "unknown_cluster": unknown_cluster.look,
        "stale_suggestion": stale_suggestion.look,
        "injection_overhead": injection_overhead.look,
        "injection_effect": injection_effect.look,
        "breaker_false_trip": breaker_trips.look_false,
        "breaker_late_trip": breaker_trips.look_late,
        "breaker_flapping": breaker_flapping.look,
        "retry_storm": retry_storm.look,
        "retry_after_ignored": retry_after_ignored.look,
        "budget_waste": budget_waste.look,
        "duplicate_write_risk": duplicate_write_risk.look,
        "permission_drift": permission_drift.look,
        "uncaught_loop": uncaught_loop.look,
        "rate_limit_storm": rate_limit_storm.look,
        "regression": regression.look,
    }
)
