"""Findings that rest on a statistical test, and the control of how many of them are false."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_toolerrors.analysis.statistics import discoveries

from .finding import Finding


@dataclass(frozen=True, slots=True)
class Tested:
    """One hypothesis that was tested; it counts as a test also where the finding would be too small to report."""

    p_value: float
    finding: Finding | None = None
    least: float = 0.0
    """The smallest p-value that so few trials could have given, whatever came of them."""


def significant(candidates: Iterable[Finding | Tested], rate: float) -> list[Finding]:
    """The plain findings, and of the tested ones those that hold among all tests of the kind.

    What could not have held whatever came of it was no test, and does not make the others harder (Tarone 1990).
    """
    everything = list(candidates)
    tests = [one for one in everything if isinstance(one, Tested) and one.least <= rate]
    kept = discoveries([test.p_value for test in tests], rate)
    plain = [one for one in everything if isinstance(one, Finding)]
    return plain + [test.finding for test, holds in zip(tests, kept, strict=True) if holds and test.finding]
