"""The numbers at the head of a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

_BARS = 48
"""Bars of a chart over time."""
_TOOLS = 15
"""Tools of a chart by tool: those that fail most."""

_TOTALS = """
SELECT count(DISTINCT run_id), count(*), coalesce(sum(CASE WHEN outcome IN ('ok', 'recovered') THEN 1 ELSE 0 END), 0),
  coalesce(sum(CASE WHEN outcome = 'recovered' THEN 1 ELSE 0 END), 0), coalesce(sum(attempts), 0),
  min(start), max("end")
FROM calls"""

_OTHERS = """
SELECT instrumentation, count(*) FROM calls WHERE instrumentation <> 'toolerrors' GROUP BY 1 ORDER BY 2 DESC, 1"""

_TOKENS = "SELECT coalesce(sum(injected_tokens), 0) FROM surfaced"

_OVER_TIME = """
WITH bounds AS (SELECT min(start) AS began, greatest(max(start) - min(start), 1) / ? AS width FROM calls)
SELECT floor((c.start - b.began) / b.width) * b.width + b.began AS moment, min(b.width) AS width, c.outcome,
  count(*) AS calls
FROM calls c CROSS JOIN bounds b WHERE c.outcome IS NOT NULL
GROUP BY 1, 3 ORDER BY 1, 3"""

_BY_TOOL = """
WITH failing AS (
  SELECT tool, count(*) AS calls, sum(CASE WHEN outcome IN ('ok', 'recovered') THEN 0 ELSE 1 END) AS failed
  FROM calls WHERE tool IS NOT NULL GROUP BY tool ORDER BY failed DESC, tool LIMIT ?
)
SELECT c.tool, c.outcome, count(*) AS calls FROM calls c JOIN failing f ON f.tool = c.tool
WHERE c.outcome IS NOT NULL AND c.outcome <> 'ok' GROUP BY c.tool, c.outcome ORDER BY c.tool, c.outcome"""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the traces hold."""

    runs: int
    calls: int
    worked: int
    recovered: int
    attempts: int
    tokens: int
    """Injected by recovery context."""
    others: dict[str, int]
    """Calls that did not run through this layer, by who recorded them."""
    began: float | None
    ended: float | None
    over_time: list[dict[str, Any]]
    by_tool: list[dict[str, Any]]

    @property
    def failed(self) -> int:
        """Calls that did not work."""
        return self.calls - self.worked

    @property
    def ours(self) -> int:
        """Calls that ran through this layer."""
        return self.calls - sum(self.others.values())


def summarise(traces: Traces) -> Summary:
    """Count what the head of the report shows."""
    runs, calls, worked, recovered, attempts, began, ended = traces.sql(_TOTALS).fetchall()[0]
    tokens = traces.sql(_TOKENS).fetchall()[0][0]
    over_time = traces.sql(_OVER_TIME, params=[_BARS]).fetchall() if calls else []
    by_tool = traces.sql(_BY_TOOL, params=[_TOOLS]).fetchall()
    return Summary(
        runs=runs,
        calls=calls,
        worked=int(worked),
        recovered=int(recovered),
        attempts=int(attempts),
        tokens=int(tokens),
        others=dict(traces.sql(_OTHERS).fetchall()),
        began=began,
        ended=ended,
        over_time=[
            {"time": moment * 1000, "until": (moment + width) * 1000, "outcome": outcome, "calls": n}
            for moment, width, outcome, n in over_time
        ],
        by_tool=[{"tool": tool, "outcome": outcome, "calls": n} for tool, outcome, n in by_tool],
    )
