"""The reference page of the rules: ``python -m otel_toolerrors.faults.reference > docs/classification.md``.

Its tables are written from the rules, so that they cannot differ from them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import resources

from .rule_checks import NUMBERS, TEXTS
from .rules import Rule, default_rules

_RULES = "## Rules\n\nIn order: of the rows that a signal matches, the first is its verdict.\n\n"
_SHOWN = 6  # spellings of one kind


def page() -> str:
    """The whole page."""
    prose = resources.files(__package__).joinpath("reference.md").read_text("utf-8")
    return f"{prose}{_RULES}{rules_table()}\n\n## Side effects\n\n{side_effects_table()}\n"


def rules_table(rules: Sequence[Rule] | None = None) -> str:
    """One row a rule: what it means and what matches it, as Markdown."""
    rows = ["| code | category | passing | matches | source |", "|---|---|---|---|---|"]
    for rule in default_rules() if rules is None else rules:
        mark = " (vague)" if rule.vague else ""
        passing = "yes" if rule.passing else "no"
        rows.append(f"| `{rule.code}`{mark} | {rule.category} | {passing} | {_matches(rule)} | {rule.source} |")
    return "\n".join(rows)


def side_effects_table(rules: Sequence[Rule] | None = None) -> str:
    """One row a rule: what is known about a write after it, and why, as Markdown."""
    rows = ["| code | side effects of a write | why |", "|---|---|---|"]
    rows += [f"| `{r.code}` | {r.side_effects} | {r.why} |" for r in (default_rules() if rules is None else rules)]
    return "\n".join(rows)


def _matches(rule: Rule) -> str:
    parts = []
    for kind in (*NUMBERS, *TEXTS):
        keys = getattr(rule, kind)
        if keys:
            shown = ", ".join(f"`{str(key).replace('|', chr(92) + '|')}`" for key in keys[:_SHOWN])
            parts.append(f"{kind} {shown}" + (f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""))
    if rule.if_status:
        parts.append(f"only with status {', '.join(map(str, rule.if_status))}")
    return "; ".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
