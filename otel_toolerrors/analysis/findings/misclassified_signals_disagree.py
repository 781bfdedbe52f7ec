"""Misclassified: the signals of an error disagreed, and what happened next sides with the loser.

It takes less to believe than the other two misclassifications: a signal had said so
already. What those two prove by themselves is left to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.statistics import Interval, wilson

from . import misclassified_should_not_retry, misclassified_should_retry
from .finding import Finding
from .query import rows, spans
from .rules import rule

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_PASSING = frozenset({"transient", "rate_limited"})
_SEEN = 3
"""Repeats or episodes that must side with the loser."""

_DISSENT = """
SELECT tool, fingerprint, dissent, count(*) AS faults FROM faults WHERE dissent IS NOT NULL
GROUP BY tool, fingerprint, dissent ORDER BY tool, fingerprint, count(*) DESC, dissent"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Set what the losing signals said beside what came of repeats."""
    losers = _losers(traces)
    for group in misclassified_should_retry.groups(traces, options):
        said = [(signal, category) for signal, category in losers.get(_key(group), ()) if category in _PASSING]
        proved = misclassified_should_retry.p_value(group) <= options.false_discoveries
        if said and not proved and group.healed >= _SEEN and 2 * group.healed > group.repeats:
            yield _finding(group, said, "pass", wilson(group.healed, group.repeats), options)
    for group in misclassified_should_not_retry.groups(traces):
        said = [(signal, category) for signal, category in losers.get(_key(group), ()) if category not in _PASSING]
        proved = misclassified_should_not_retry.p_value(group) <= options.false_discoveries
        if said and not proved and group.episodes >= _SEEN and not group.passed:
            yield _finding(group, said, "last", wilson(0, group.episodes), options)


def _losers(traces: Traces) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """What the signals that lost had said, for each tool and fingerprint."""
    losers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows(traces, _DISSENT):
        pairs = [pair.partition("=") for pair in row.dissent.split(",")]
        losers.setdefault((row.tool, row.fingerprint), []).extend((signal, said) for signal, _, said in pairs)
    return losers


def _key(group: Any) -> tuple[str, str]:
    return group.tool, group.fingerprint


def _finding(group: Any, said: list[tuple[str, str]], fate: str, share: Interval, options: Options) -> Finding:
    signal, category = said[0]
    reason = f"the {signal} said {category}, and the outcomes agree: {share} of the repeats worked"
    return Finding(
        kind="misclassified_signals_disagree",
        severity="low",
        title=f"{group.tool}: {group.code} was called {group.category}, but its {signal} said {category}",
        explanation=(
            f"The signals disagreed and the {signal} lost. What came after sides with it: the errors {fate} "
            f"({share} of the repeats worked). The evidence is thin, but a signal had said so."
        ),
        tool=group.tool,
        service=group.service,
        fingerprint=group.fingerprint,
        code=group.code,
        counts={"sided": group.healed if fate == "pass" else group.episodes},
        evidence=spans(group.evidence or (), options.evidence),
        interval=share,
        patch=rule(group, category, passing=category in _PASSING, reason=reason),
    )
