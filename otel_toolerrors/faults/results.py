"""Errors that come back as values instead of being raised."""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolerrors.vocabulary import Effects

from .fault import Fault
from .rules import Rule, RuleSet


def classify_result(value: object, *, effects: Effects = "read", rules: RuleSet | Sequence[Rule] | None = None) -> Fault | None:
    """The fault that a returned value reports; None if the value is no error."""
    del value, effects, rules
    return None
