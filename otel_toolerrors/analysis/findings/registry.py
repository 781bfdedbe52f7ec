"""The table of findings: each kind, and what looks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from . import injection_overhead, should_not_retry, should_retry, stale_suggestion
from .finding import Finding
from .options import Options
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

Detector = Callable[["Traces", Options], Iterable[Finding | Tested]]
"""Reads the views, and yields findings; or tests, of which those count that hold among all tests of the kind."""

DETECTORS: Mapping[str, Detector] = MappingProxyType(
    {
        "misclassified_should_retry": should_retry.look,
        "misclassified_should_not_retry": should_not_retry.look,
        "stale_suggestion": stale_suggestion.look,
        "injection_overhead": injection_overhead.look,
    }
)
