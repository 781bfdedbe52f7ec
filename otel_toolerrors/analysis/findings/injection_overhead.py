"""Context-injection overhead: recovery context that costs more than it can help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch

from .finding import Cost, Finding, Severity
from .query import WORKED, rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

KIND = "injection_overhead"
_FEWEST = 5
"""Repeated or crowding injections that make a finding."""
_REPEATED = 0.3
"""Share of a hint's injected tokens that may be repeats."""
_WASTE = 500
"""Repeated tokens below which it is not worth a word."""
_MUCH = 2_000
"""Wasted tokens from which it is of medium severity."""
_CROWDED = 0.02
"""Share of what is left of the window that an injection may take (the layer's own limit near the end)."""
_NEAR = 4_000
"""Tokens left below which a window is nearly full (the default of ``surface.near_limit``)."""

_SHOWN = f"""
SELECT s.trace_id, s.call_span_id AS span_id, s.run_id, s.ts, s.tool, s.target, s.fingerprint, s.code, s.suggestions,
  s.injected_tokens AS tokens, s.context_remaining AS remaining, c.next_outcome IN {WORKED} AS helped,
  row_number() OVER (PARTITION BY s.run_id, s.fingerprint, s.suggestions ORDER BY s.ts, s.span_id) AS turn
FROM surfaced s LEFT JOIN (
  SELECT trace_id, span_id,
    lead(outcome) OVER (PARTITION BY run_id, tool ORDER BY start, "index", span_id) AS next_outcome
  FROM calls
) c ON c.trace_id = s.trace_id AND c.span_id = s.call_span_id
WHERE s.injected_tokens > 0"""

_REPEATS = f"""
WITH shown AS ({_SHOWN})
SELECT fingerprint, suggestions, min(code) AS code, min(tool) AS tool, count(DISTINCT tool) AS tools, count(*) AS times,
  count(DISTINCT run_id) AS runs, sum(tokens) AS tokens, count(*) FILTER (WHERE turn > 1) AS again,
  sum(tokens) FILTER (WHERE turn > 1) AS wasted, count(DISTINCT target) AS targets,
  list(concat(trace_id, ':', span_id) ORDER BY ts, span_id) FILTER (WHERE turn > 1) AS evidence
FROM shown WHERE suggestions IS NOT NULL
GROUP BY fingerprint, suggestions ORDER BY fingerprint, suggestions"""

_CROWDING = f"""
WITH shown AS ({_SHOWN})
SELECT count(*) AS times, sum(tokens) AS tokens, count(DISTINCT run_id) AS runs,
  list(concat(trace_id, ':', span_id) ORDER BY ts, span_id) AS evidence
FROM shown WHERE remaining IS NOT NULL AND remaining < {_NEAR} AND tokens > {_CROWDED} * remaining"""

_TOTAL = f"""
WITH shown AS ({_SHOWN})
SELECT count(*) AS times, sum(tokens) AS tokens, count(DISTINCT run_id) AS runs,
  count(*) FILTER (WHERE helped) AS helped, count(*) FILTER (WHERE remaining > 0) AS measured,
  avg(tokens * 1.0 / nullif(remaining, 0)) AS usual, max(tokens * 1.0 / nullif(remaining, 0)) AS most
FROM shown"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for hints said again and again, and for injections into windows that are nearly full."""
    total = rows(traces, _TOTAL)[0]
    for group in rows(traces, _REPEATS):
        if group.again >= _FEWEST and group.wasted >= max(_WASTE, _REPEATED * group.tokens):
            yield _repeated(group, total, options)
    crowding = rows(traces, _CROWDING)[0]
    if crowding.times >= _FEWEST:
        yield _crowded(crowding, total, options)


def _repeated(group: Any, total: Any, options: Options) -> Finding:
    severity: Severity = "medium" if group.wasted >= _MUCH else "low"
    per_run = group.wasted / group.runs
    return Finding(
        kind=KIND,
        severity=severity,
        tool=group.tool if group.tools == 1 else None,
        fingerprint=group.fingerprint,
        code=group.code,
        title=f"the same hints for {group.code} are said again and again",
        explanation=(
            f"In {group.runs} runs the model was told the same ({group.suggestions}) {group.times} times for "
            f"{group.targets} operations; {group.again} of these it had read before in the same run. "
            f"They cost {group.wasted} tokens, {per_run:.0f} a run. {_price(total)}"
        ),
        counts={"shown": group.times, "repeated": group.again, "runs": group.runs, "operations": group.targets},
        cost=Cost(tokens=int(group.wasted)),
        evidence=spans(group.evidence, options.evidence),
        patch=_policy(
            "systemic_operations",
            1,
            f"{group.again} of {group.times} hints for {group.code} had been read before in the run",
        ),
    )


def _crowded(group: Any, total: Any, options: Options) -> Finding:
    return Finding(
        kind=KIND,
        severity="medium",
        title="context is injected into windows that are nearly full",
        explanation=(
            f"{group.times} times, in {group.runs} runs, context took more than {_CROWDED:.0%} of a window with "
            f"under {_NEAR} tokens left, {group.tokens} tokens in all: what it pushes out is lost to the model. "
            f"{_price(total)}"
        ),
        counts={"times": group.times, "runs": group.runs},
        cost=Cost(tokens=int(group.tokens)),
        evidence=spans(group.evidence, options.evidence),
        patch=_policy("near_limit", 2 * _NEAR, f"{group.times} injections crowded a window"),
    )


def _price(total: Any) -> str:
    """What all context cost: for each failure after which the tool's next call worked, and of the window."""
    if not total.helped:
        price = "and no failure was followed by a success of the tool"
    else:
        price = f"{total.tokens / total.helped:.0f} for each failure that the run got over"
    return f"All context: {total.tokens} tokens, {price}. {_share_of_window(total)}"


def _share_of_window(total: Any) -> str:
    if not total.measured:
        return "How much of the window was left is not recorded: tell the run (`run.context_remaining`)."
    return (
        f"Of the window that was left, one injection took {total.usual:.2%} on average and {total.most:.1%} at most "
        f"({total.measured} of {total.times} tell)."
    )


def _policy(key: str, value: int, reason: str) -> Patch:
    return Patch("policy", (Change(("surface", key), value, reason),))
