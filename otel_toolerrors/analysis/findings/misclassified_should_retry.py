"""Misclassified: an error that was called final, although the same call worked soon after.

"The same arguments worked later" does not prove that an error would have passed: most
often another call repaired the state in between (started the engine, read the file).
So the pair counts only if nothing in between could have changed state: no other call
but reads in the run, and for a repeat in another run, none on the service either. Of a call that
is made again and again, only the first repeat counts: the others are no evidence of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.statistics import at_least, wilson

from .finding import Cost, Finding
from .query import FAILED, LAST_FAULTS, WORKED, once, rows, spans
from .rules import rule
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

WORTH = 0.2
"""An error is worth a retry if more than this share of its repeats work."""
_FEWEST = 3

_QUERY = f"""
WITH last_faults AS ({LAST_FAULTS}),
repeats AS (
  SELECT *, lead(span_id) OVER again AS next_span, lead(run_id) OVER again AS next_run,
    lead(start) OVER again AS next_start, lead(outcome) OVER again AS next_outcome,
    lag(outcome) OVER again AS last_outcome, lag("end") OVER again AS last_end
  FROM calls WHERE arguments IS NOT NULL AND outcome NOT IN ('denied', 'cancelled')
  WINDOW again AS (PARTITION BY service_name, tool, arguments ORDER BY start, "index", span_id)
),
pairs AS (
  SELECT r.trace_id, r.span_id, r.run_id, r.tool, r.service, r.start, r."end", r.next_span, r.next_run, r.next_start,
    r.next_outcome IN {WORKED} AS healed, f.fingerprint, f.code, f.category, f.message, f.exception_type, f.http_status
  FROM repeats r JOIN last_faults f ON f.trace_id = r.trace_id AND f.call_span_id = r.span_id
  WHERE r.outcome IN {FAILED} AND NOT coalesce(f.passing, false)
    AND r.next_start >= r."end" AND r.next_start - r."end" <= ?
    AND NOT coalesce(r.last_outcome IN {FAILED} AND r.start - r.last_end <= ?, false)
),
undisturbed AS (
  SELECT p.* FROM pairs p WHERE NOT EXISTS (
    SELECT 1 FROM calls x
    WHERE x.start < p.next_start AND x."end" > p."end" AND x.span_id NOT IN (p.span_id, p.next_span)
      AND coalesce(x.effects, 'write') <> 'read' AND x.outcome NOT IN ('denied', 'cancelled')
      AND (x.run_id IN (p.run_id, p.next_run) OR (p.run_id <> p.next_run AND x.service = p.service))
  )
)
SELECT u.tool, u.fingerprint, min(u.service) AS service, min(u.code) AS code, min(u.category) AS category,
  min(u.message) AS message, min(u.exception_type) AS exception_type, min(u.http_status) AS http_status,
  count(*) AS repeats, count(*) FILTER (WHERE u.healed) AS healed,
  count(DISTINCT u.run_id) FILTER (WHERE u.healed) AS runs,
  sum(u.next_start - u."end") FILTER (WHERE u.healed) AS seconds, sum(s.tokens) FILTER (WHERE u.healed) AS tokens,
  list(concat(u.trace_id, ':', u.span_id) ORDER BY u.start, u.span_id) FILTER (WHERE u.healed) AS evidence
FROM undisturbed u LEFT JOIN surfaced s ON s.trace_id = u.trace_id AND s.call_span_id = u.span_id
GROUP BY u.tool, u.fingerprint ORDER BY u.tool, u.fingerprint"""


@once
def groups(traces: Traces, options: Options) -> list[Any]:
    """Undisturbed repeats of calls that were not retried, by tool and fingerprint."""
    return rows(traces, _QUERY, options.soon, options.soon)


def p_value(group: Any) -> float:
    """How likely so many repeats work if the error is not worth a retry."""
    return at_least(group.healed, group.repeats, WORTH)


def least(group: Any) -> float:
    """The p-value if all repeats had worked."""
    return at_least(group.repeats, group.repeats, WORTH)


def look(traces: Traces, options: Options) -> Iterator[Tested]:
    """Test, for every tool and fingerprint that was not retried, whether its repeats work too often for that."""
    for group in groups(traces, options):
        if group.healed < _FEWEST:
            yield Tested(p_value(group), least=least(group))
            continue
        share = wilson(group.healed, group.repeats)
        yield Tested(
            p_value(group),
            Finding(
                kind="misclassified_should_retry",
                severity="high" if share.low >= 2 * WORTH else "medium",
                title=f"{group.tool}: {group.code} is not retried, but passes by itself",
                explanation=(
                    f"{group.repeats} calls that failed with it (called {group.category}) were made again with the "
                    f"same arguments within {options.soon:.0f} s, and nothing in between could have changed state: "
                    f"{group.healed} then worked, {share}. The layer could have retried, and the model need not have "
                    f"seen the error."
                ),
                tool=group.tool,
                service=group.service,
                fingerprint=group.fingerprint,
                code=group.code,
                counts={"repeats": group.repeats, "healed": group.healed, "runs": group.runs},
                cost=Cost(seconds=group.seconds or 0.0, tokens=int(group.tokens or 0)),
                evidence=spans(group.evidence, options.evidence),
                interval=share,
                patch=rule(
                    group,
                    "transient",
                    passing=True,
                    reason=f"{group.healed} of {group.repeats} undisturbed repeats of {group.tool} worked: {share}",
                ),
            ),
            least=least(group),
        )
