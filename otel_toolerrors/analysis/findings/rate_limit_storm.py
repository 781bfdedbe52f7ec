"""Rate-limit storm: many runs hit one service's limit in the same minute."""

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

_LIMITED = 15
"""Rate limits of one service in one minute."""
_RUNS = 5
"""Different runs that must meet them."""

_QUERY = f"""
SELECT service, floor(ts / 60) AS minute, count(*) AS limited, count(DISTINCT run_id) AS runs, min(tool) AS tool,
  min(code) AS code, max(coalesce(retry_after, 0)) AS wait,
  list(concat(trace_id, ':', call_span_id) ORDER BY ts, call_span_id) AS evidence
FROM faults WHERE category = 'rate_limited' AND service IS NOT NULL AND call_span_id IS NOT NULL
GROUP BY service, floor(ts / 60)
HAVING count(*) >= {_LIMITED} AND count(DISTINCT run_id) >= {_RUNS}
ORDER BY service, minute"""

_TOOLS = """
SELECT service, tool FROM faults WHERE category = 'rate_limited' GROUP BY service, tool ORDER BY service, tool"""


def look(traces: Traces, options: Options) -> Iterator[Finding]:
    """Look for minutes in which many runs were limited together."""
    storms: dict[str, list[Any]] = defaultdict(list)
    for row in rows(traces, _QUERY):
        storms[row.service].append(row)
    tools: dict[str, list[str]] = defaultdict(list)
    for row in rows(traces, _TOOLS):
        tools[row.service].append(row.tool)
    for service, minutes in storms.items():
        limited = sum(row.limited for row in minutes)
        worst = max(minutes, key=lambda row: row.limited)
        yield Finding(
            kind="rate_limit_storm",
            severity="high" if len(minutes) > 1 else "medium",
            title=f"{service}: {worst.runs} runs hit its rate limit in the same minute",
            explanation=(
                f"{limited} calls were limited in {len(minutes)} such minutes. The runs come back together: full "
                "jitter spreads them, and a shared limit in front of the service keeps them from coming at all."
            ),
            service=service,
            code=worst.code,
            counts={"minutes": len(minutes), "limited": limited, "runs": max(row.runs for row in minutes)},
            cost=Cost(seconds=60.0 * len(minutes)),
            evidence=spans(worst.evidence, options.evidence),
            patch=_spread(tools[service], f"{limited} calls were limited together"),
        )


def _spread(tools: list[str], reason: str) -> Patch:
    return Patch("policy", tuple(Change(("tools", tool, "retry", "jitter"), "full", reason) for tool in tools))
