"""Unknown cluster: errors that the classifier did not recognise and that look alike.

Nobody classified the errors that other instrumentations recorded. The classifier is asked now,
with what was recorded of them; those that it recognises are not reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.faults import redact
from otel_toolerrors.faults.fingerprint import template

from .finding import Cost, Evidence, Finding
from .inferred import inferred
from .query import WORKED, rows, spans
from .rules import rule

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FEWEST_CALLS = 5
_FEWEST_RUNS = 2
_TITLE = 80
"""Characters of a message's template in a title."""
_MANY = 0.05
"""Share of all faults from which a cluster is of medium severity."""

_QUERY = f"""
WITH next_calls AS (
  SELECT trace_id, span_id, outcome, attempts, instrumentation, arguments,
    lead(outcome) OVER (PARTITION BY run_id, tool ORDER BY start, "index", span_id) AS next_outcome,
    lead(arguments) OVER (PARTITION BY run_id, tool ORDER BY start, "index", span_id) AS next_arguments
  FROM calls
)
SELECT f.exception_type, f.http_status, f.fingerprint, min(f.code) AS code, min(f.message) AS message,
  count(*) AS faults, count(DISTINCT f.call_span_id) AS calls, count(DISTINCT f.run_id) AS runs,
  count(DISTINCT CASE WHEN c.outcome IN {WORKED} THEN f.call_span_id END) AS passed,
  count(DISTINCT CASE WHEN c.attempts > f.attempt THEN f.call_span_id END) AS retried,
  count(DISTINCT CASE WHEN c.next_outcome IN {WORKED} AND c.next_arguments <> c.arguments THEN f.call_span_id END)
    AS mended,
  sum(s.tokens) AS tokens, min(f.tool) AS tool, count(DISTINCT f.tool) AS tools,
  c.instrumentation = 'toolerrors' AS ours,
  list(concat(f.trace_id, ':', f.call_span_id) ORDER BY f.ts, f.call_span_id) AS evidence
FROM faults f LEFT JOIN next_calls c ON c.trace_id = f.trace_id AND c.span_id = f.call_span_id
LEFT JOIN surfaced s ON s.trace_id = f.trace_id AND s.call_span_id = f.call_span_id
WHERE f.category = 'unknown' AND f.call_span_id IS NOT NULL
GROUP BY f.exception_type, f.http_status, f.fingerprint, c.instrumentation = 'toolerrors'
ORDER BY f.exception_type, f.http_status, f.fingerprint, ours"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Group unrecognised errors by type, status and message template, whichever tool they come from."""
    clusters: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in rows(traces, _QUERY):
        if row.ours or not _is_known(row):
            clusters[row.ours, row.exception_type, row.http_status, template(redact(row.message or ""))].append(row)
    everything = rows(traces, "SELECT count(*) AS faults FROM faults")[0].faults
    for (_, _, _, text), members in sorted(clusters.items(), key=lambda item: str(item[0])):
        if sum(m.calls for m in members) >= _FEWEST_CALLS and max(m.runs for m in members) >= _FEWEST_RUNS:
            yield _finding(text, members, everything, options)


def _short(text: str) -> str:
    return text if len(text) <= _TITLE else f"{text[:_TITLE].rsplit(' ', 1)[0]} …"


def _is_known(row: Any) -> bool:
    """Whether the classifier would have recognised it; or nothing was recorded that anybody could recognise."""
    fault = inferred(row.exception_type, row.code, row.message)
    return fault is None or fault.category != "unknown"


_KNEW = {
    True: "knew no rule",
    False: "knows no rule for what was recorded of it",
}


def _finding(text: str, members: list[Any], everything: int, options: Options) -> Finding:
    first = members[0]
    names = ("calls", "passed", "retried", "mended")
    calls, passed, retried, mended = (sum(getattr(m, name) for m in members) for name in names)
    reason = f"{calls} calls met it and the classifier {_KNEW[bool(first.ours)]}"
    reason += f"; {passed} of {retried} that were retried passed" if retried else "; none was retried"
    reason += f"; after {mended}, the run's next call of the tool worked with other arguments" if mended else ""
    category = "transient" if passed * 2 > retried else "validation" if mended * 2 > calls else "bug"
    share = sum(m.faults for m in members) / everything
    tools = {m.tool for m in members}
    evidence: tuple[Evidence, ...] = tuple(one for m in members for one in spans(m.evidence, options.evidence))
    return Finding(
        kind="unknown_cluster",
        severity="medium" if share >= _MANY else "low",
        title=f"{calls} calls failed with an error that no rule knows: {_short(text) or first.exception_type}",
        explanation=(
            f"{reason}. It is {share:.0%} of all faults. This layer does not retry an unknown error, and has no hint "
            f"for it. The proposed rule says {category}: read one of them before you use it."
        ),
        tool=first.tool if len(tools) == 1 and first.tools == 1 else None,
        fingerprint=first.fingerprint if len(members) == 1 else None,
        code=first.code,
        counts={"calls": calls, "retried": retried, "passed": passed, "mended": mended, "fingerprints": len(members)},
        cost=Cost(tokens=sum(int(m.tokens or 0) for m in members)),
        evidence=evidence[: options.evidence],
        patch=rule(first, category, passing=category == "transient", reason=reason),
    )
