"""What the names of the exception's class and bases say."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence, Hit
from ..rules import RuleSet


def hits(evidence: Evidence, rules: RuleSet) -> Iterator[Hit]:
    """A rule for each class that one knows, the most derived first."""
    for module, name in evidence.profile.names:
        rule = rules.type(name)
        if rule is not None:
            yield Hit("type", name if module == "builtins" else f"{module}.{name}", rule, "strong")
