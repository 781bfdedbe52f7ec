"""Calls that were never made have faults too."""

import pytest

from otel_toolerrors.engine.reports import PACED, held_back
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Declaration, Policy, resolve

RULES = resolve(Policy(), "search", Declaration(effects="idempotent"), "main_agent")


@pytest.mark.parametrize(("code", "category"), [("breaker.open", "transient"), (PACED, "rate_limited")])
def test_what_was_held_back_had_no_effect_and_passes(code, category):
    """An open breaker is a sick service's, a pause is a busy one's; either is certain, and grouped by its code."""
    assert Fault(
        category=category, code=code, passing=True, side_effects="none", effects="idempotent", message="not now",
        fingerprint=code, retry_after=30.0, signal="rule", strength="certain",
    ) == held_back(code, "not now", RULES, 30.0)  # fmt: skip
