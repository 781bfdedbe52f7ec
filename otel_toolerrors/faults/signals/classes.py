"""What the names of the exception's class and bases say."""

from __future__ import annotations

from otel_toolerrors.faults.evidence import Evidence, Hit
from otel_toolerrors.faults.rules import RuleSet


def hits(evidence: Evidence, rules: RuleSet) -> tuple[Hit, ...]:
    """A rule for each class that one knows, the most derived first."""
    known = rules.named.get(evidence.kind)
    if known is None:
        known = rules.named[evidence.kind] = tuple(
            Hit("type", name if module == "builtins" else f"{module}.{name}", rule, "strong")
            for module, name in evidence.profile.names
            if (rule := rules.type(name)) is not None
        )
    return known
