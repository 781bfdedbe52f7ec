"""A hint that helps less than it did, since the catalog or the service's release changed.

Helped means: the run's next call of the same tool worked. Calls of one run hang together, so the variance is taken over
runs. Only the newest state is compared, with the one before: further back, too much else has changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch
from otel_toolerrors.analysis.statistics import clustered_difference

from .finding import Cost, Finding
from .query import WORKED, rows, spans
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

_FEWEST_RUNS = 10
"""Runs that were shown the hint, in each state."""
_NOTABLE = 0.1
"""A loss in the share of helped errors that matters, in points of one."""

_QUERY = f"""
WITH next_calls AS (
  SELECT trace_id, span_id,
    lead(outcome) OVER (PARTITION BY run_id, tool ORDER BY start, "index", span_id) AS next_outcome
  FROM calls WHERE outcome NOT IN ('denied', 'cancelled')
)
SELECT s.suggestions, s.run_id, coalesce(s.service_name, '') AS service_name,
  coalesce(r.catalog, '') AS catalog, coalesce(s.service_version, '') AS version, min(s.ts) AS ts, count(*) AS shown,
  sum(CASE WHEN n.next_outcome IN {WORKED} THEN 1 ELSE 0 END) AS helped, sum(s.injected_tokens) AS tokens,
  min(CASE WHEN n.next_outcome NOT IN {WORKED} THEN concat(s.trace_id, ':', s.call_span_id) END) AS example
FROM surfaced s JOIN next_calls n ON n.trace_id = s.trace_id AND n.span_id = s.call_span_id
LEFT JOIN runs r ON r.run_id = s.run_id
WHERE s.suggestions IS NOT NULL AND n.next_outcome IS NOT NULL
GROUP BY s.suggestions, s.run_id, s.service_name, r.catalog, s.service_version
ORDER BY min(s.ts), s.run_id, s.suggestions"""

State = tuple[str, str]
"""A catalog's version and a service's."""


def look(traces: Traces, options: Options) -> Iterator[Tested]:
    """Compare the newest state of catalog and release with the one before, for every hint and service."""
    shown: dict[tuple[str, str], dict[State, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows(traces, _QUERY):
        for hint in row.suggestions.split(","):
            shown[row.service_name, hint][row.catalog, row.version].append(row)
    for (_, hint), states in sorted(shown.items()):
        if len(states) > 1:
            (old, before), (new, after) = list(states.items())[-2:]  # in the order in which they were first seen
            if min(len(before), len(after)) >= _FEWEST_RUNS:
                yield from _compared(hint, before, after, _since(old, new), options)


def _compared(hint: str, before: list[Any], after: list[Any], since: str, options: Options) -> Iterator[Tested]:
    difference = clustered_difference(*([(int(row.helped), row.shown) for row in side] for side in (before, after)))
    if difference is None:
        return
    loss = difference.interval
    if loss.value > -_NOTABLE:
        yield Tested(difference.p_value)
        return
    helped, shown = (sum(int(getattr(row, name)) for row in after) for name in ("helped", "shown"))
    title = f"suggestion {hint} helps less since {since}"
    examples = [row.example for row in after if row.example is not None]
    yield Tested(
        difference.p_value,
        Finding(
            kind="stale_suggestion",
            severity="medium",
            code=hint,
            title=title,
            explanation=(
                f"After {helped} of {shown} errors with this hint the tool's next call in the run worked: "
                f"{loss.value:+.1%} against before ({loss.low:+.1%} to {loss.high:+.1%}, 95 %, by runs). "
                "Either its advice no longer holds, or the errors are of another sort now: read some of each."
            ),
            counts={"runs_before": len(before), "runs_after": len(after), "shown": shown, "helped": helped},
            cost=Cost(tokens=sum(int(row.tokens or 0) for row in after)),
            evidence=spans(examples, options.evidence),
            interval=loss,
            patch=Patch("catalog", (Change(("without",), [hint], f"{hint}: it helps less since {since}"),)),
        ),
    )


def _since(old: State, new: State) -> str:
    parts = zip(("catalog", "release"), old, new, strict=True)
    return " and ".join(f"{name} {after}" for name, before, after in parts if before != after)
