"""Retry storm: many runs repeat failing calls against one service at the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch

from .finding import Cost, Finding
from .query import rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_REPEATS = 30
"""Repeated attempts in one minute that can make a storm."""
_RUNS = 3
"""Different runs that must take part: one run's persistence is no storm."""
_AMPLIFIED = 2.0
"""Attempts for each call of that minute."""

_QUERY = f"""
SELECT service, floor(start / 60) AS minute, count(*) AS attempts, count(DISTINCT call_span_id) AS calls,
  sum(CASE WHEN attempt > 1 THEN 1 ELSE 0 END) AS repeats,
  sum(CASE WHEN attempt > 1 AND category IS NOT NULL THEN 1 ELSE 0 END) AS failed,
  count(DISTINCT CASE WHEN attempt > 1 THEN run_id END) AS runs,
  list(concat(trace_id, ':', call_span_id) ORDER BY start, span_id) FILTER (WHERE attempt > 1) AS evidence
FROM attempts WHERE service IS NOT NULL AND call_span_id IS NOT NULL
GROUP BY service, floor(start / 60)
HAVING sum(CASE WHEN attempt > 1 THEN 1 ELSE 0 END) >= {_REPEATS}
  AND count(DISTINCT CASE WHEN attempt > 1 THEN run_id END) >= {_RUNS}
  AND count(*) >= {_AMPLIFIED} * count(DISTINCT call_span_id)
ORDER BY service, minute"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for minutes in which repeats were most of what a service got."""
    storms: dict[str, list[Any]] = defaultdict(list)
    for row in rows(traces, _QUERY):
        storms[row.service].append(row)
    for service, minutes in storms.items():
        repeats, failed = (int(sum(getattr(row, name) for row in minutes)) for name in ("repeats", "failed"))
        worst = max(minutes, key=lambda row: row.attempts / row.calls)
        yield Finding(
            kind="retry_storm",
            severity="high" if failed * 2 > repeats else "medium",
            title=f"{service}: retries multiply its load {worst.attempts / worst.calls:.1f}-fold",
            explanation=(
                f"In {len(minutes)} minutes {repeats} repeated attempts of up to {max(r.runs for r in minutes)} runs "
                "hit "
                f"the service, and {failed} of them failed. A smaller retry budget caps what all runs together may add."
            ),
            service=service,
            counts={"minutes": len(minutes), "repeats": repeats, "failed": failed},
            cost=Cost(seconds=60.0 * len(minutes)),
            evidence=spans(worst.evidence, options.evidence),
            patch=_smaller(service, f"{failed} of {repeats} repeated attempts in storms failed"),
        )


def _smaller(service: str, reason: str) -> Patch:
    return Patch("policy", (Change(("services", service, "budget", "capacity"), 100.0, reason),))
