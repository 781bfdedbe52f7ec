"""What the layer, the policy and the catalog got wrong: one small module for each kind of finding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .finding import SEVERITIES, Cost, Evidence, Finding, Severity, at_least_as_grave, gravest_first
from .options import Options
from .registry import DETECTORS
from .tested import significant

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

__all__ = ["DETECTORS", "SEVERITIES", "Cost", "Evidence", "Finding", "Options", "Severity", "at_least_as_grave", "find"]


def find(traces: Traces, *, kinds: Iterable[str] | None = None, options: Options | None = None) -> list[Finding]:
    """Look for every kind of finding (or only for ``kinds``), the gravest and dearest first.

    The same traces give the same findings in the same order.

    Raises:
        ValueError: ``kinds`` names one that does not exist.
    """
    wanted = list(DETECTORS) if kinds is None else list(kinds)
    if unknown := [kind for kind in wanted if kind not in DETECTORS]:
        raise ValueError(f"unknown kinds of finding: {', '.join(unknown)}; known: {', '.join(DETECTORS)}")
    settings = options or Options()
    with traces.snapshot() as stored:
        found = [
            finding
            for kind in wanted
            for finding in significant(DETECTORS[kind](stored, settings), settings.false_discoveries)
        ]
    return sorted(found, key=gravest_first)
