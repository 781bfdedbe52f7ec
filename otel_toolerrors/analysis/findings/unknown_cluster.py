"""Unknown cluster: errors that the classifier did not recognise and that look alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.faults.fingerprint import template

from .finding import Cost, Evidence, Finding
from .query import WORKED, rows, spans
from .rules import rule

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FEWEST_CALLS = 5
_FEWEST_RUNS = 2
_MANY = 0.05
"""Share of all faults from which a cluster is of medium severity."""

_QUERY = f"""
SELECT f.exception_type, f.http_status, f.fingerprint, min(f.code) AS code, min(f.message) AS message,
  count(*) AS faults, count(DISTINCT f.call_span_id) AS calls, count(DISTINCT f.run_id) AS runs,
  count(DISTINCT CASE WHEN c.outcome IN {WORKED} THEN f.call_span_id END) AS passed,
  count(DISTINCT CASE WHEN c.attempts > f.attempt THEN f.call_span_id END) AS retried,
  sum(s.tokens) AS tokens, min(f.tool) AS tool, count(DISTINCT f.tool) AS tools,
  list(concat(f.trace_id, ':', f.call_span_id) ORDER BY f.ts, f.call_span_id) AS evidence
FROM faults f LEFT JOIN calls c ON c.trace_id = f.trace_id AND c.span_id = f.call_span_id
LEFT JOIN surfaced s ON s.trace_id = f.trace_id AND s.call_span_id = f.call_span_id
WHERE f.category = 'unknown' AND f.call_span_id IS NOT NULL
GROUP BY f.exception_type, f.http_status, f.fingerprint
ORDER BY f.exception_type, f.http_status, f.fingerprint"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Group unrecognised errors by type, status and message template, whichever tool they come from."""
    clusters: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in rows(traces, _QUERY):
        clusters[row.exception_type, row.http_status, template(row.message or "")].append(row)
    everything = rows(traces, "SELECT count(*) AS faults FROM faults")[0].faults
    for (_, _, text), members in sorted(clusters.items(), key=lambda item: str(item[0])):
        if sum(m.calls for m in members) >= _FEWEST_CALLS and max(m.runs for m in members) >= _FEWEST_RUNS:
            yield _finding(text, members, everything, options)


def _finding(text: str, members: list[Any], everything: int, options: Options) -> Finding:
    first = members[0]
    calls, passed, retried = (sum(getattr(m, name) for m in members) for name in ("calls", "passed", "retried"))
    share = sum(m.faults for m in members) / everything
    passes = retried > 0 and passed * 2 > retried
    tools = {m.tool for m in members}
    evidence: tuple[Evidence, ...] = tuple(one for m in members for one in spans(m.evidence, options.evidence))
    reason = f"{calls} calls met it and the classifier knew no rule; {passed} of {retried} that were retried passed"
    return Finding(
        kind="unknown_cluster",
        severity="medium" if share >= _MANY else "low",
        title=f"{calls} calls failed with an error that no rule knows: {text[:80] or first.exception_type}",
        explanation=(
            f"{reason}. It is {share:.0%} of all faults. An unknown error is not retried and not explained to the "
            f"model; the proposed rule says {'transient' if passes else 'bug'}: check that before you use it."
        ),
        tool=first.tool if len(tools) == 1 and first.tools == 1 else None,
        fingerprint=first.fingerprint if len(members) == 1 else None,
        code=first.code,
        counts={"calls": calls, "retried": retried, "passed": passed, "fingerprints": len(members)},
        cost=Cost(tokens=sum(int(m.tokens or 0) for m in members)),
        evidence=evidence[: options.evidence],
        patch=rule(first, "transient" if passes else "bug", passing=passes, reason=reason),
    )
