"""Duplicate-write risk: a write that may have happened was made again without an idempotency key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch

from .finding import Finding, Severity
from .query import LAST_FAULTS, WORKED, rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_UNSURE = "effects IN ('write', 'destructive') AND NOT coalesce(keyed, false)"

_BY_LAYER = f"""
SELECT c.tool, min(c.service) AS service, f.code, count(*) AS times,
  sum(CASE WHEN c.outcome IN {WORKED} THEN 1 ELSE 0 END) AS worked,
  list(concat(c.trace_id, ':', c.span_id) ORDER BY c.start, c.span_id) AS evidence
FROM calls c JOIN (
  SELECT trace_id, call_span_id, code, min(attempt) AS attempt FROM faults
  WHERE side_effects <> 'none' GROUP BY trace_id, call_span_id, code
) f ON f.trace_id = c.trace_id AND f.call_span_id = c.span_id
WHERE {_UNSURE} AND c.attempts > f.attempt
GROUP BY c.tool, f.code ORDER BY c.tool, f.code"""

_BY_MODEL = f"""
WITH last_faults AS ({LAST_FAULTS}),
repeats AS (
  SELECT *, lead(outcome) OVER again AS next_outcome, lead(start) OVER again AS next_start
  FROM calls WHERE arguments IS NOT NULL AND outcome NOT IN ('denied', 'cancelled') AND attempts > 0
  WINDOW again AS (PARTITION BY run_id, tool, arguments ORDER BY start, "index", span_id)
)
SELECT r.tool, min(r.service) AS service, f.code, count(*) AS times,
  sum(CASE WHEN r.next_outcome IN {WORKED} THEN 1 ELSE 0 END) AS worked,
  list(concat(r.trace_id, ':', r.span_id) ORDER BY r.start, r.span_id) AS evidence
FROM repeats r JOIN last_faults f ON f.trace_id = r.trace_id AND f.call_span_id = r.span_id
WHERE r.effects IN ('write', 'destructive') AND NOT coalesce(r.keyed, false) AND f.side_effects <> 'none'
  AND r.outcome NOT IN {WORKED} AND r.next_start - r."end" <= ?
GROUP BY r.tool, f.code ORDER BY r.tool, f.code"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for repeats of such writes, by the layer and by the model."""
    for group in rows(traces, _BY_LAYER):
        only_once = Change(("tools", group.tool, "retry", "max_attempts"), 1, "a write was repeated without a key")
        text = "The layer repeated it: its policy was told that this is safe."
        yield _finding(group, "high", text, options, Patch("policy", (only_once,)))
    for group in rows(traces, _BY_MODEL, options.soon):
        text = "The model called it again with the same arguments."
        yield _finding(group, "medium", text, options, None)


def _finding(group: Any, severity: Severity, text: str, options: Options, patch: Patch | None) -> Finding:
    return Finding(
        kind="duplicate_write_risk",
        severity=severity,
        title=f"{group.tool}: a write that may have happened was made again {group.times} times",
        explanation=(
            f"After {group.code} nobody knew whether the write had taken effect. {text} {int(group.worked)} of the "
            f"{group.times} repeats worked: each may be a duplicate. Give the tool an idempotency key, or a way to "
            "look first."
        ),
        tool=group.tool,
        service=group.service,
        code=group.code,
        counts={"times": group.times, "worked": int(group.worked)},
        evidence=spans(group.evidence, options.evidence),
        patch=patch,
    )
