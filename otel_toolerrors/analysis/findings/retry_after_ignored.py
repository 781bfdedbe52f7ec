"""Retry-After ignored: somebody called a service again before the time it had asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from otel_toolerrors.analysis.statistics import wilson

from .finding import Cost, Finding
from .query import rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FEWEST = 5
_EARLY = 0.9
"""An attempt is early if it comes before this share of the wait is over: clocks differ a little."""
_SHORTEST = 1.0
"""Seconds; shorter waits are over before anyone could know of them."""
_LONGEST = 3600.0
"""Seconds of a wait that are looked at."""

_QUERY = f"""
WITH asked AS (
  SELECT trace_id, call_span_id, run_id, service, ts, least(retry_after, {_LONGEST}) AS wait, code FROM faults
  WHERE retry_after >= {_SHORTEST} AND service IS NOT NULL
),
early AS (
  SELECT k.service, k.code, a.trace_id, a.call_span_id, a.run_id, a.start, a.category, k.ts, k.wait,
    row_number() OVER (PARTITION BY a.trace_id, a.span_id ORDER BY k.ts DESC) AS latest,
    CASE WHEN a.call_span_id = k.call_span_id THEN 'call' WHEN a.run_id = k.run_id THEN 'run' ELSE 'other' END AS who
  FROM asked k JOIN attempts a ON a.service = k.service AND a.start > k.ts AND a.start < k.ts + {_EARLY} * k.wait
)
SELECT service, min(code) AS code, count(*) AS early,
  sum(CASE WHEN category = 'rate_limited' THEN 1 ELSE 0 END) AS limited,
  sum(CASE WHEN who = 'call' THEN 1 ELSE 0 END) AS by_call, sum(CASE WHEN who = 'run' THEN 1 ELSE 0 END) AS by_run,
  sum(CASE WHEN who = 'other' THEN 1 ELSE 0 END) AS by_others, sum(ts + wait - start) AS seconds,
  list(concat(trace_id, ':', call_span_id) ORDER BY start, call_span_id) AS evidence
FROM early WHERE latest = 1
GROUP BY service ORDER BY service"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for attempts inside the wait that a service asked for, by whomever."""
    for group in rows(traces, _QUERY):
        if group.early < _FEWEST or not group.limited:
            continue
        limited = int(group.limited)
        share = wilson(limited, group.early)
        yield Finding(
            kind="retry_after_ignored",
            severity="medium" if share.low > 0.5 else "low",  # noqa: PLR2004 - more often than not
            title=f"{group.service}: {group.early} attempts came before its Retry-After was over",
            explanation=(
                f"{group.by_call} were repeats of the same call, {group.by_run} other calls of the run, "
                f"{group.by_others} "
                f"of other runs; {share} of them were limited again. Within one process the layer paces callers "
                "together: "
                "look for retries below it (an SDK's own), or for processes that should share a limit."
            ),
            service=group.service,
            code=group.code,
            counts={
                "early": group.early,
                "limited": limited,
                "by_call": int(group.by_call),
                "by_run": int(group.by_run),
                "by_others": int(group.by_others),
            },
            cost=Cost(seconds=float(group.seconds)),
            evidence=spans(group.evidence, options.evidence),
            interval=share,
        )
