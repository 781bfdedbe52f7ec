"""The metrics: few, with labels of bounded cardinality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """One instrument."""

    name: str
    instrument: Literal["counter", "histogram", "gauge"]
    unit: str
    description: str
    labels: tuple[str, ...]


CALL_DURATION = Metric(
    "gen_ai.execute_tool.duration",
    "histogram",
    "s",
    "Duration of logical tool calls, retries and waits included.",
    ("gen_ai.tool.name", "error.type"),
)
CALLS = Metric(
    "toolerrors.calls",
    "counter",
    "{call}",
    "Logical calls by four-way outcome: ok, recovered, failed_without_retry, failed_with_retry.",
    ("gen_ai.tool.name", "toolerrors.service", "toolerrors.retry.outcome", "toolerrors.category"),
)
ATTEMPTS = Metric(
    "toolerrors.attempts",
    "counter",
    "{attempt}",
    "Attempts made; divided by calls it is the retry amplification.",
    ("gen_ai.tool.name", "toolerrors.service"),
)
FAULTS = Metric(
    "toolerrors.faults",
    "counter",
    "{fault}",
    "Classified faults.",
    ("gen_ai.tool.name", "toolerrors.category", "toolerrors.code"),
)
RETRY_DELAY = Metric(
    "toolerrors.retry.delay",
    "histogram",
    "s",
    "Waits before repeated attempts.",
    ("gen_ai.tool.name", "toolerrors.retry.basis"),
)
BREAKER_STATE = Metric(
    "toolerrors.breaker.state",
    "gauge",
    "1",
    "1 for the state a service breaker is in, 0 for the others.",
    ("toolerrors.breaker.name", "toolerrors.breaker.state"),
)
INJECTED_TOKENS = Metric(
    "toolerrors.injected.tokens",
    "histogram",
    "{token}",
    "Tokens that recovery context added to a surfaced error.",
    ("gen_ai.tool.name", "toolerrors.arm"),
)
TELEMETRY_DROPPED = Metric(
    "toolerrors.telemetry.dropped",
    "counter",
    "{item}",
    "Spans, events or lines that were lost rather than delay the agent.",
    ("toolerrors.drop.reason",),
)

METRICS: tuple[Metric, ...] = (
    CALL_DURATION,
    CALLS,
    ATTEMPTS,
    FAULTS,
    RETRY_DELAY,
    BREAKER_STATE,
    INJECTED_TOKENS,
    TELEMETRY_DROPPED,
)
"""The table of metrics."""
