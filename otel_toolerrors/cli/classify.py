"""``toolerrors classify``: what the layer would make of an error."""

from __future__ import annotations


def classify() -> None:
    """Say what the layer would make of an error."""
