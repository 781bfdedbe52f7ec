"""Misclassified: an error that is retried, although it (nearly) never passes.

An outage makes many calls fail together, and says as little about an error as one
failed call. So the unit is the *episode*: failed calls of a tool without a success
of that tool between them. A retry that was planned but never made says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.statistics import at_most, wilson

from .finding import Cost, Finding
from .query import WORKED, once, rows, spans
from .rules import rule
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

WORTH = 0.2
"""Retrying is not worth it if surely fewer than this share of the episodes pass."""

_QUERY = f"""
WITH numbered AS (
  SELECT *, coalesce(sum(CASE WHEN outcome IN {WORKED} THEN 1 ELSE 0 END) OVER (
    PARTITION BY service_name, tool ORDER BY start, "index", span_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS successes_before
  FROM calls WHERE outcome NOT IN ('denied', 'cancelled')
),
retried AS (
  SELECT trace_id, call_span_id, fingerprint, min(attempt) AS first_failed, sum(coalesce(delay, 0)) AS waited
  FROM retries WHERE event = 'toolerrors.retry.scheduled' AND basis NOT IN ('pacing', 'credentials')
  GROUP BY trace_id, call_span_id, fingerprint
),
judged AS (
  SELECT n.*, r.fingerprint, r.waited, n.attempts - r.first_failed AS repeats
  FROM numbered n JOIN retried r ON n.trace_id = r.trace_id AND n.span_id = r.call_span_id
  WHERE n.attempts > r.first_failed
),
episodes AS (
  SELECT service_name, tool, fingerprint, successes_before, count(*) AS calls, sum(repeats) AS repeats,
    sum(waited) AS waited, max(CASE WHEN outcome IN {WORKED} THEN 1 ELSE 0 END) AS passed,
    min(service) AS service, min(concat(trace_id, ':', span_id)) AS example, min(start) AS start
  FROM judged GROUP BY service_name, tool, fingerprint, successes_before
),
looks AS (
  SELECT tool, fingerprint, min(code) AS code, min(category) AS category, min(message) AS message,
    min(exception_type) AS exception_type, min(http_status) AS http_status
  FROM faults GROUP BY tool, fingerprint
)
SELECT e.tool, e.fingerprint, l.code, l.category, l.message, l.exception_type, l.http_status, min(e.service) AS service,
  count(*) AS episodes, sum(e.passed) AS passed, sum(e.calls) AS calls, sum(e.repeats) AS repeats,
  sum(e.waited) AS waited, list(e.example ORDER BY e.start, e.example) FILTER (WHERE e.passed = 0) AS evidence
FROM episodes e JOIN looks l ON l.tool = e.tool AND l.fingerprint = e.fingerprint
GROUP BY e.tool, e.fingerprint, l.code, l.category, l.message, l.exception_type, l.http_status
ORDER BY e.tool, e.fingerprint"""


@once
def groups(traces: Traces) -> list[Any]:
    """Episodes of errors that were retried, by tool and fingerprint."""
    return rows(traces, _QUERY)


def p_value(group: Any) -> float:
    """How likely so few episodes pass if the error is worth a retry."""
    return at_most(int(group.passed), group.episodes, WORTH)


def look(traces: Traces, options: Options) -> Iterator[Tested]:
    """Test, for every tool and fingerprint that was retried, whether it passes too seldom for that."""
    for group in groups(traces):
        passed, episodes, repeats = int(group.passed), group.episodes, int(group.repeats)
        share = wilson(passed, episodes)
        yield Tested(
            p_value(group),
            Finding(
                kind="misclassified_should_not_retry",
                severity="high" if share.high < WORTH / 2 else "medium",
                title=f"{group.tool}: {group.code} is retried, but does not pass",
                explanation=(
                    f"Retried in {episodes} separate episodes ({group.calls} calls, {repeats} repeated attempts), it "
                    f"passed in {passed}: {share}. The retries cost {group.waited:.0f} s of waiting, and load on "
                    "the service."
                ),
                tool=group.tool,
                service=group.service,
                fingerprint=group.fingerprint,
                code=group.code,
                counts={"episodes": episodes, "passed": passed, "calls": int(group.calls), "repeats": repeats},
                cost=Cost(seconds=float(group.waited)),
                evidence=spans(group.evidence or (), options.evidence),
                interval=share,
                patch=rule(
                    group,
                    "permanent",
                    passing=False,
                    reason=f"{passed} of {episodes} episodes of {group.tool} passed after retries: {share}",
                ),
            ),
            least=at_most(0, episodes, WORTH),
        )
