"""Fields that several events have."""

from __future__ import annotations

from .attributes import attribute
from .words import Category


def tool() -> str:
    """Name the tool."""
    return attribute("gen_ai.tool.name", "The tool the event is about.", "search")  # type: ignore[no-any-return]


def attempt() -> int:
    """Number the attempt."""
    return attribute("toolerrors.attempt", "Number of the attempt, from 1.", 2, cardinality="low")  # type: ignore[no-any-return]


def code() -> str:
    """Give the fault's code."""
    return attribute("toolerrors.code", "Stable, fine code of the fault.", "timeout.read")  # type: ignore[no-any-return]


def category() -> Category:
    """Give the fault's category."""
    return attribute("toolerrors.category", "One of the nine fault categories.", "transient", cardinality="low")  # type: ignore[no-any-return]


def fingerprint() -> str:
    """Give the fault's fingerprint."""
    return attribute(  # type: ignore[no-any-return]
        "toolerrors.fingerprint", "Groups errors that differ only in ids, numbers and paths.", "9f2b6c01d4e8a7f3"
    )
