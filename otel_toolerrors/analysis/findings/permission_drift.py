"""Permission drift: what was allowed is not allowed any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .finding import Finding
from .query import WORKED, rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_DENIED = 3
"""Denials of a tool that the same run had been allowed to use."""
_BEFORE = 10
"""Calls that must have worked before access was lost."""
_SINCE = 5
"""Calls that must have failed since, without one that worked."""

_OUR_CHECK = """
SELECT tool, count(*) AS times, count(DISTINCT run_id) AS runs, min(reason) AS reason,
  list(concat(trace_id, ':', coalesce(call_span_id, span_id)) ORDER BY ts, span_id) AS evidence
FROM denials WHERE drift GROUP BY tool ORDER BY tool"""

_THEIR_ANSWER = f"""
WITH worked AS (
  SELECT service_name, tool, count(*) AS before, max(start) AS last FROM calls WHERE outcome IN {WORKED}
  GROUP BY service_name, tool
),
refused AS (
  SELECT c.service_name, c.tool, f.code, c.trace_id, c.span_id, c.start, c.run_id
  FROM calls c JOIN faults f ON f.trace_id = c.trace_id AND f.call_span_id = c.span_id AND f.tool = c.tool
  WHERE f.category = 'permission' AND c.outcome NOT IN {WORKED} AND c.outcome <> 'denied'
)
SELECT r.tool, min(r.code) AS code, max(w.before) AS before, count(*) AS times, count(DISTINCT r.run_id) AS runs,
  list(concat(r.trace_id, ':', r.span_id) ORDER BY r.start, r.span_id) AS evidence
FROM refused r JOIN worked w ON w.tool = r.tool AND w.service_name IS NOT DISTINCT FROM r.service_name
WHERE r.start > w.last
GROUP BY r.service_name, r.tool ORDER BY r.tool, r.service_name"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for tools that our own check stopped allowing within runs, and for access that a service took away."""
    for group in rows(traces, _OUR_CHECK):
        if group.times >= _DENIED:
            yield Finding(
                kind="permission_drift",
                severity="low",
                title=f"{group.tool}: allowed at first, then denied {group.times} times in the same run",
                explanation=(
                    f"In {group.runs} runs the permission check let the tool pass and later refused it "
                    f"({group.reason}). The model planned with a tool that it then lost: decide at the start, or say "
                    "why."
                ),
                tool=group.tool,
                counts={"denials": group.times, "runs": group.runs},
                evidence=spans(group.evidence, options.evidence),
            )
    for group in rows(traces, _THEIR_ANSWER):
        if group.times >= _SINCE and group.before >= _BEFORE:
            yield Finding(
                kind="permission_drift",
                severity="high",
                title=f"{group.tool}: access was lost after {group.before} calls that worked",
                explanation=(
                    f"The last {group.times} calls, in {group.runs} runs, failed with {group.code}, and none has "
                    "worked "
                    "since: a credential or a role has changed. Retries do not bring it back; a person must."
                ),
                tool=group.tool,
                code=group.code,
                counts={"before": group.before, "since": group.times, "runs": group.runs},
                evidence=spans(group.evidence, options.evidence),
            )
