"""Regression: a tool fails more often than before, by release or from a moment on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.statistics import Cluster, clustered_difference

from .finding import Finding
from .query import FAILED, rows, spans
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FEWEST_RUNS = 20
"""Runs that called the tool, in each period."""
_NOTABLE = 0.02
"""A difference in the share of failed calls that matters, in points of one."""

_PERIODS = """
SELECT service_name, service_version AS version, min(start) AS start FROM calls
WHERE service_version IS NOT NULL GROUP BY service_name, service_version ORDER BY service_name, min(start) DESC"""

_QUERY = f"""
WITH placed AS (
  SELECT *, CASE WHEN start >= ? THEN 1 ELSE 0 END AS late, CASE WHEN outcome IN {FAILED} THEN 1 ELSE 0 END AS bad
  FROM calls WHERE outcome NOT IN ('denied', 'cancelled')
)
SELECT tool, run_id, min(service) AS service, service_name, service_version AS version, late, count(*) AS calls,
  sum(bad) AS failed, min(CASE WHEN bad = 1 THEN concat(trace_id, ':', span_id) END) AS example
FROM placed GROUP BY tool, run_id, service_name, service_version, late
ORDER BY min(start), run_id, tool"""


def look(traces: Traces, options: Options) -> Iterator[Tested]:
    """Compare the newest release of each service with the one before, or the time since the baseline with before."""
    by_release = options.baseline is None
    moment = options.baseline or 0.0
    runs = rows(traces, _QUERY, moment)
    newest = _newest(traces) if by_release else {}
    sides: dict[tuple[str, str], tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for row in runs:
        new, old = newest.get(row.service_name, (None, None))
        if by_release and (row.version is None or row.version not in (new, old)):
            continue
        after = row.version == new if by_release else bool(row.late)
        sides[row.service_name or "", row.tool][after].append(row)
    for (name, tool), (before, after) in sorted(sides.items()):
        if min(len(before), len(after)) >= _FEWEST_RUNS:
            since = f"release {newest[name][0]}" if by_release else "the baseline"
            yield from _compared(tool, before, after, since, options)


def _newest(traces: Traces) -> dict[str, tuple[str, str]]:
    """The two newest releases of each service."""
    versions: dict[str, list[str]] = defaultdict(list)
    for row in rows(traces, _PERIODS):
        versions[row.service_name].append(row.version)
    return {name: (known[0], known[1]) for name, known in versions.items() if len(known) > 1}


def _compared(tool: str, before: list[Any], after: list[Any], since: str, options: Options) -> Iterator[Tested]:
    difference = clustered_difference(_clusters(before), _clusters(after))
    if difference is None:
        return
    if difference.interval.value < _NOTABLE:
        yield Tested(difference.p_value)
        return
    interval = difference.interval
    failed, calls = (sum(int(getattr(row, name)) for row in after) for name in ("failed", "calls"))
    examples = [row.example for row in after if row.example is not None]
    yield Tested(
        difference.p_value,
        Finding(
            kind="regression",
            severity="high" if interval.low >= 5 * _NOTABLE else "medium",
            title=f"{tool} fails more often since {since}",
            explanation=(
                f"{failed} of {calls} calls failed in {len(after)} runs, {interval.value:+.1%} against the "
                f"{len(before)} "
                f"runs before ({interval.low:+.1%} to {interval.high:+.1%}, 95 %, by runs)."
            ),
            tool=tool,
            service=after[0].service,
            counts={"runs_before": len(before), "runs_after": len(after), "calls": calls, "failed": failed},
            evidence=spans(examples, options.evidence),
            interval=interval,
        ),
    )


def _clusters(rows_: list[Any]) -> list[Cluster]:
    return [(int(row.failed), row.calls) for row in rows_]
