"""Asking the views: rows by name, evidence, and what the faults of a group look like."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

from .finding import Evidence

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

Answer = TypeVar("Answer")
Given = TypeVarTuple("Given")

WORKED = "('ok', 'recovered')"
"""Outcomes of calls that worked, for SQL."""

FAILED = "('surfaced', 'degraded', 'stopped')"
"""Outcomes of calls that did not."""


def rows(traces: Traces, query: str, *params: Any) -> list[Any]:
    """Ask, and get rows whose columns are attributes. What comes from traces or users is bound as ``params``."""
    found = traces.sql(query, params=list(params) or None)
    return list(map(_row_type(*found.columns)._make, found.fetchall()))


@cache
def _row_type(*columns: str) -> Any:
    return namedtuple("Row", columns)  # noqa: PYI024 - the columns are the query's


def once(ask: Callable[[Traces, *Given], Answer]) -> Callable[[Traces, *Given], Answer]:
    """Ask the same traces the same question once: several kinds rest on the answer. It is kept as long as they are."""
    known: WeakKeyDictionary[Traces, dict[tuple[*Given], Answer]] = WeakKeyDictionary()

    @wraps(ask)
    def answer(traces: Traces, *given: *Given) -> Answer:
        answers = known.setdefault(traces, {})
        if given not in answers:
            answers[given] = ask(traces, *given)
        return answers[given]

    return answer


def spans(pairs: Sequence[str], most: int) -> tuple[Evidence, ...]:
    """Read ``trace:span`` texts, as the queries collect them in order of time."""
    return tuple(Evidence(*pair.split(":", 1)) for pair in list(pairs)[:most])


def many(number: int, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


LAST_FAULTS = """
SELECT * FROM (
  SELECT f.*, row_number() OVER (PARTITION BY f.trace_id, f.call_span_id ORDER BY f.attempt DESC, f.ts DESC) AS latest
  FROM faults f JOIN calls c ON c.trace_id = f.trace_id AND c.span_id = f.call_span_id AND c.tool = f.tool
) WHERE latest = 1"""
"""The last fault of each call's own tool."""
