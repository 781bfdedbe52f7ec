"""The few numbers that all findings share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """When evidence is enough. ``docs/findings/README.md`` says why these are the defaults."""

    false_discoveries: float = 0.05
    """Of the findings of one kind that rest on a test, the share that may be false (Benjamini–Hochberg)."""
    soon: float = 300.0
    """Seconds within which a repeated call counts as the same try."""
    baseline: float | None = None
    """Compare what happened since this moment (seconds since 1970) with what was before; None: by release."""
    evidence: int = 5
    """Spans named in each finding."""
