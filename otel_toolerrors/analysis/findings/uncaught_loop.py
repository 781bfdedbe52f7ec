"""Uncaught loop: a run made the same call again and again, and nothing stopped it.

Attempts of the layer are not calls, so its own retries are no loop. A call that worked
counts only if nothing that could change the result was called in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from otel_toolerrors.analysis.patch import Change, Patch

from .finding import Cost, Finding
from .query import LAST_FAULTS, WORKED, many, rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FAILED = 4
"""Equal calls of a run that failed with one fingerprint."""
_WORKED = 10
"""Equal reads of a run without a write in between: their results cannot differ by what the run did."""

_FAILING = f"""
WITH last_faults AS ({LAST_FAULTS}),
loops AS (
  SELECT c.run_id, c.tool, c.arguments, f.fingerprint, min(f.code) AS code, count(*) AS times, min(c.start) AS start,
    sum(c.duration) AS seconds, sum(s.tokens) AS tokens, min(c.service) AS service,
    min(concat(c.trace_id, ':', c.span_id)) AS example, c.instrumentation = 'toolerrors' AS ours
  FROM calls c JOIN last_faults f ON f.trace_id = c.trace_id AND f.call_span_id = c.span_id
  LEFT JOIN surfaced s ON s.trace_id = c.trace_id AND s.call_span_id = c.span_id
  WHERE c.outcome = 'surfaced' AND c.arguments IS NOT NULL
  GROUP BY c.run_id, c.tool, c.arguments, f.fingerprint, c.instrumentation = 'toolerrors' HAVING count(*) >= {_FAILED}
)
SELECT tool, fingerprint, ours, min(code) AS code, min(service) AS service, count(*) AS loops,
  count(DISTINCT run_id) AS runs, sum(times) AS calls, max(times) AS longest, sum(seconds) AS seconds,
  sum(tokens) AS tokens, list(example ORDER BY start, example) AS evidence
FROM loops GROUP BY tool, fingerprint, ours ORDER BY tool, fingerprint, ours"""

_REPEATING = f"""
WITH epochs AS (
  SELECT *, sum(CASE WHEN coalesce(effects, 'write') <> 'read' THEN 1 ELSE 0 END)
    OVER (PARTITION BY run_id ORDER BY "index", start, span_id) AS writes
  FROM calls WHERE outcome NOT IN ('denied', 'cancelled')
),
loops AS (
  SELECT run_id, tool, arguments, writes, count(*) AS times, min(start) AS start, sum(duration) AS seconds,
    min(service) AS service, min(concat(trace_id, ':', span_id)) AS example
  FROM epochs WHERE outcome IN {WORKED} AND effects = 'read' AND arguments IS NOT NULL
  GROUP BY run_id, tool, arguments, writes HAVING count(*) >= {_WORKED}
)
SELECT tool, min(service) AS service, count(*) AS loops, count(DISTINCT run_id) AS runs, sum(times) AS calls,
  max(times) AS longest, sum(seconds) AS seconds, list(example ORDER BY start, example) AS evidence
FROM loops GROUP BY tool ORDER BY tool"""


_STOPPED = {
    True: "The run breaker did not stop them.",
    False: "They did not run through this layer, whose run breaker stops a run at the third.",
}


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for equal calls that failed the same way, and for equal reads with nothing in between."""
    for group in rows(traces, _FAILING):
        yield Finding(
            kind="uncaught_loop",
            severity="high" if group.longest >= 2 * _FAILED else "medium",
            title=f"{group.tool}: the same call failed up to {group.longest} times in one run",
            explanation=(
                f"{int(group.calls)} calls in {many(group.loops, 'loop')} of {many(group.runs, 'run')}, each with the "
                f"same arguments and the same {group.code}. {_STOPPED[bool(group.ours)]}"
            ),
            tool=group.tool,
            service=group.service,
            fingerprint=group.fingerprint,
            code=group.code,
            counts={"loops": group.loops, "runs": group.runs, "calls": int(group.calls), "longest": group.longest},
            cost=Cost(seconds=float(group.seconds or 0), tokens=int(group.tokens or 0)),
            evidence=spans(group.evidence, options.evidence),
            patch=_sooner(f"{many(group.loops, 'loop')} of {group.tool} not stopped") if group.ours else None,
        )
    for group in rows(traces, _REPEATING):
        yield Finding(
            kind="uncaught_loop",
            severity="low",
            title=f"{group.tool}: the same read up to {group.longest} times in one run, with nothing in between",
            explanation=(
                f"{int(group.calls)} equal reads in {many(group.runs, 'run')} worked, with no write in between. "
                "If the tool polls something, this is in order; if not, the model is stuck."
            ),
            tool=group.tool,
            service=group.service,
            counts={"loops": group.loops, "runs": group.runs, "calls": int(group.calls), "longest": group.longest},
            cost=Cost(seconds=float(group.seconds or 0)),
            evidence=spans(group.evidence, options.evidence),
        )


def _sooner(reason: str) -> Patch:
    return Patch("policy", (Change(("run", "tool_failures"), 3, reason),))
