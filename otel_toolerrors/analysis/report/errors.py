"""Which errors there were, whoever recorded them, and what the classifier makes of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.findings import Evidence
from otel_toolerrors.analysis.findings.inferred import inferred
from otel_toolerrors.analysis.findings.query import LAST_FAULTS, WORKED, rows, spans

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

_MOST = 15
"""Errors that are listed: those that most calls met."""
_LONGEST = 300
"""Characters of a message that are shown."""

_QUERY = f"""
WITH last_faults AS ({LAST_FAULTS})
SELECT f.tool, f.fingerprint, c.instrumentation = 'toolerrors' AS ours, min(f.category) AS category,
  min(f.code) AS code, min(f.message) AS message, min(f.exception_type) AS exception_type, count(*) AS calls,
  count(DISTINCT f.run_id) AS runs, sum(CASE WHEN c.outcome IN {WORKED} THEN 1 ELSE 0 END) AS recovered,
  list(concat(f.trace_id, ':', f.call_span_id) ORDER BY f.ts, f.call_span_id) AS evidence
FROM last_faults f JOIN calls c ON c.trace_id = f.trace_id AND c.span_id = f.call_span_id
GROUP BY f.tool, f.fingerprint, c.instrumentation = 'toolerrors'
ORDER BY calls DESC, f.tool, f.fingerprint"""


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """Calls of a tool that failed alike: their last error."""

    tool: str
    category: str
    code: str
    message: str
    calls: int
    runs: int
    recovered: int
    inferred: bool
    """Whether the category is what the classifier makes of the recorded type and text now, for want of a better one."""
    silent: bool
    """Whether it was recorded by others, who recorded neither type nor text."""
    example: Evidence


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of most calls, and how many others there are."""

    shown: list[ErrorGroup]
    others: int
    """Calls that met another error."""
    silent: int
    """Calls of which nobody recorded why they failed."""


def errors(traces: Traces) -> Errors:
    """Group the last errors of calls by tool and fingerprint, the most frequent first."""
    found = rows(traces, _QUERY)
    groups = [_group(row) for row in found]
    told = [group for group in groups if not group.silent]
    return Errors(
        told[:_MOST],
        others=sum(group.calls for group in told[_MOST:]),
        silent=sum(group.calls for group in groups if group.silent),
    )


def _group(row: Any) -> ErrorGroup:
    category, code, message = row.category, row.code, row.message or ""
    fault = None if row.ours else inferred(row.exception_type, row.code, row.message)
    if fault is not None:
        # Its message is redacted; what others recorded need not be.
        category, code, message = fault.category, fault.code, fault.message
    (example,) = spans(row.evidence, 1)
    return ErrorGroup(
        tool=row.tool or "?", category=category, code=code, message=_short(message), calls=row.calls, runs=row.runs,
        recovered=int(row.recovered), inferred=fault is not None, silent=not row.ours and fault is None,
        example=example,
    )  # fmt: skip


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
