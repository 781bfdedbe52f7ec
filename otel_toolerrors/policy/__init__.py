"""What we are allowed to do: validated data and pure functions."""

from __future__ import annotations

from .annotations import effects_from_hints
from .load import PolicyError, load_policy, parse_policy
from .model import (
    BreakerPolicy,
    BudgetPolicy,
    Fallback,
    ModelPolicy,
    Policy,
    RetryPolicy,
    RunPolicy,
    ServicePolicy,
    SourcePolicy,
    SurfacePolicy,
    Terminal,
    ToolPolicy,
)
from .rules import Declaration, ToolRules, resolve

__all__ = [
    "BreakerPolicy",
    "BudgetPolicy",
    "Declaration",
    "Fallback",
    "ModelPolicy",
    "Policy",
    "PolicyError",
    "RetryPolicy",
    "RunPolicy",
    "ServicePolicy",
    "SourcePolicy",
    "SurfacePolicy",
    "Terminal",
    "ToolPolicy",
    "ToolRules",
    "effects_from_hints",
    "load_policy",
    "parse_policy",
    "resolve",
]
