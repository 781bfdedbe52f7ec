"""Injection effect: whether recovery context keeps the model from failing again, measured against a held-out arm.

Without an arm nothing can be claimed: runs that were told more also failed more. The unit
is the surfaced error, its result whether the run's next call of the same tool failed too.
Errors of one run are not independent, so the variance is taken over runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from otel_toolerrors.analysis.patch import Change, Patch
from otel_toolerrors.analysis.statistics import Cluster, Difference, clustered_difference

from .finding import Cost, Evidence, Finding
from .query import WORKED, rows, spans
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

KIND = "injection_effect"
_FEWEST_RUNS = 20
"""Runs with errors that each arm must have."""
_DEAR = 5_000
"""Injected tokens from which not knowing the effect is worth a word."""

_QUERY = f"""
WITH next_calls AS (
  SELECT trace_id, span_id, run_id,
    lead(outcome) OVER (PARTITION BY run_id, tool ORDER BY start, "index", span_id) AS again
  FROM calls WHERE outcome NOT IN ('denied', 'cancelled')
)
SELECT s.arm, s.run_id, count(*) AS errors, sum(CASE WHEN n.again NOT IN {WORKED} THEN 1 ELSE 0 END) AS repeated
FROM surfaced s JOIN next_calls n ON n.trace_id = s.trace_id AND n.span_id = s.call_span_id
WHERE s.arm IS NOT NULL AND n.again IS NOT NULL
GROUP BY s.arm, s.run_id ORDER BY s.arm, s.run_id"""

_TOKENS = """
SELECT coalesce(sum(injected_tokens), 0) AS tokens, count(*) AS errors,
  list(concat(trace_id, ':', coalesce(call_span_id, span_id)) ORDER BY injected_tokens DESC, ts, span_id) AS evidence
FROM surfaced"""


def effect(traces: Traces) -> Difference | None:
    """The share of errors that are followed by another: with context minus without; None if an arm is too small."""
    arms = _arms(traces)
    if min(len(arms["bare"]), len(arms["context"])) < _FEWEST_RUNS:
        return None
    return clustered_difference(arms["bare"], arms["context"])


def look(traces: Traces, options: Options) -> Iterator[Finding | Tested]:
    """Say what context does to the share of repeated failures, or that nobody can tell."""
    total = rows(traces, _TOKENS)[0]
    difference = effect(traces)
    if difference is None:
        if total.tokens >= _DEAR:
            yield _unknown(int(total.tokens), total.errors, spans(total.evidence, options.evidence))
        return
    interval = difference.interval
    worse = interval.value > 0
    yield Tested(
        difference.p_value,
        Finding(
            kind=KIND,
            severity="medium" if worse else "info",
            title=f"recovery context {'causes' if worse else 'prevents'} repeated failures",
            explanation=(
                f"With context, {abs(interval.value):.1%} {'more' if worse else 'fewer'} of the surfaced errors "
                f"were followed by another failure of the same tool (difference {interval.low:+.1%} to "
                f"{interval.high:+.1%}, "
                f"95 %, by runs). It cost {int(total.tokens)} tokens."
            ),
            counts={"errors": total.errors},
            cost=Cost(tokens=int(total.tokens) if worse else 0),
            evidence=spans(total.evidence, options.evidence),
            interval=interval,
            patch=_policy("suggestions", 0, "context made repeated failures more frequent") if worse else None,
        ),
    )


def _unknown(tokens: int, errors: int, evidence: tuple[Evidence, ...]) -> Finding:
    return Finding(
        kind=KIND,
        severity="info",
        title="no effect of recovery context can be claimed: there is no held-out arm",
        explanation=(
            f"{errors} surfaced errors cost {tokens} tokens of context. Whether it helped cannot be told without runs "
            f"that get the bare error: hold out a share of them until each arm has {_FEWEST_RUNS} runs with errors."
        ),
        counts={"errors": errors},
        cost=Cost(tokens=tokens),
        evidence=evidence,
        patch=_policy("held_out", 0.1, "one run in ten without context tells what context does"),
    )


def _arms(traces: Traces) -> dict[str, list[Cluster]]:
    arms: dict[str, list[Cluster]] = defaultdict(list)
    for row in rows(traces, _QUERY):
        arms[row.arm].append((int(row.repeated), row.errors))
    return arms


def _policy(key: str, value: float, reason: str) -> Patch:
    return Patch("policy", (Change(("surface", key), value, reason),))
