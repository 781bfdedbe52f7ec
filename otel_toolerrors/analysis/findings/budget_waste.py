"""Budget waste: retries that did not help used up the budget, and calls that needed one were refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from otel_toolerrors.analysis.patch import Change, Patch

from .finding import Finding
from .query import WORKED, rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_REFUSED = 5
"""Retries refused for want of budget that make it worth a word."""
_SPENT = 0.5
"""Share of a service's retries that one fingerprint must have taken."""

_QUERY = f"""
WITH spent AS (
  SELECT r.service, r.tool, r.fingerprint, min(r.code) AS code, count(*) AS retries,
    sum(CASE WHEN c.outcome IN {WORKED} THEN 1 ELSE 0 END) AS passed
  FROM retries r JOIN calls c ON c.trace_id = r.trace_id AND c.span_id = r.call_span_id
  WHERE r.event = 'toolerrors.retry.scheduled' GROUP BY r.service, r.tool, r.fingerprint
),
refused AS (
  SELECT service, count(*) AS refused, list(concat(trace_id, ':', call_span_id) ORDER BY ts, call_span_id) AS evidence
  FROM retries WHERE event = 'toolerrors.retry.refused' AND reason = 'budget' GROUP BY service
)
SELECT s.*, x.refused, x.evidence, sum(s.retries) OVER (PARTITION BY s.service) AS everything
FROM spent s JOIN refused x ON x.service = s.service
ORDER BY s.service, s.retries DESC, s.tool, s.fingerprint"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for services whose budget went to one error that hardly ever passes."""
    for group in rows(traces, _QUERY):
        passed = int(group.passed)
        wasteful = group.retries > _SPENT * group.everything and passed * 5 < group.retries
        if group.refused < _REFUSED or not wasteful:
            continue
        yield Finding(
            kind="budget_waste",
            severity="medium",
            title=f"{group.service}: retries of {group.code} use up the retry budget",
            explanation=(
                f"{group.retries} of the service's {int(group.everything)} retries went to {group.code} of "
                f"{group.tool}, "
                f"and {passed} led to a success. {group.refused} other retries were refused because the budget was "
                "spent."
            ),
            tool=group.tool,
            service=group.service,
            fingerprint=group.fingerprint,
            code=group.code,
            counts={"retries": group.retries, "passed": passed, "refused": group.refused},
            evidence=spans(group.evidence, options.evidence),
            patch=_fewer(group.tool, f"{passed} of {group.retries} retries of {group.code} led to a success"),
        )


def _fewer(tool: str, reason: str) -> Patch:
    return Patch("policy", (Change(("tools", tool, "retry", "max_attempts"), 2, reason),))
