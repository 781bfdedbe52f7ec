"""What happened: an exception or an in-band error becomes a `Fault`."""

from __future__ import annotations

from .classify import classify
from .control_flow import CONTROL_FLOW, is_control_flow
from .fault import Fault, Signal, Strength, Verdict
from .fingerprint import fingerprint
from .redaction import redact
from .results import classify_result
from .rule_checks import RuleError
from .rules import Rule, RuleSet, default_rules, load_rules

__all__ = [
    "CONTROL_FLOW",
    "Fault",
    "Rule",
    "RuleError",
    "RuleSet",
    "Signal",
    "Strength",
    "Verdict",
    "classify",
    "classify_result",
    "default_rules",
    "fingerprint",
    "is_control_flow",
    "load_rules",
    "redact",
]
