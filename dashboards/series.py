"""What the words of the vocabulary are called in Prometheus.

Three families reach it through the collector: what a process reports itself
(``METRICS``), what span_metrics derives from spans, and what the count connector
counts (``COUNTED_EVENTS`` and ``REPEATED``). Dashboards and alerts may name nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from otel_toolerrors.vocabulary import (
    METRICS,
    BreakerMoved,
    BreakerRejected,
    CallSpan,
    ErrorSurfaced,
    Event,
    FallbackUsed,
    FaultClassified,
    Metric,
    RetryRefused,
    RetryScheduled,
    RunStopped,
    attributes_of,
)

SPAN_DIMENSIONS = tuple(
    attributes_of(CallSpan)[field].key for field in ("operation", "agent", "tool", "error_type", "outcome", "category")
)
"""Span attributes that span_metrics turns into labels."""

COUNTED_EVENTS: dict[type[Event], tuple[str, ...]] = {
    FaultClassified: ("tool", "category", "code"),
    RetryScheduled: ("tool", "basis", "code"),
    RetryRefused: ("tool", "reason", "code"),
    BreakerMoved: ("breaker", "name", "to_state"),
    BreakerRejected: ("breaker", "name"),
    FallbackUsed: ("tool", "fallback", "succeeded"),
    ErrorSurfaced: ("tool", "category", "code", "arm", "suggestions"),
    RunStopped: ("reason",),
}
"""Events that the count connector counts under their own name, and the fields it keeps as labels."""

REPEATED = "toolerrors.calls.repeated"
"""Logical calls of more than one attempt, which the count connector counts."""
REPEATED_LABELS = tuple(attributes_of(CallSpan)[field].key for field in ("tool", "outcome", "agent"))

_UNITS = {"s": "_seconds", "1": "_ratio"}
_HISTOGRAM_PARTS = ("_bucket", "_sum", "_count")


def label(key: str) -> str:
    """Name of an attribute as a Prometheus label."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", key)


def series(metric: Metric) -> str:
    """Name of a metric as Prometheus stores it; a histogram's without ``_bucket``, ``_sum`` or ``_count``.

    The rules are those of OpenTelemetry's "Prometheus and OpenMetrics Compatibility":
    dots become underscores, the unit and ``total`` become suffixes, annotations in braces vanish.
    """
    unit = _UNITS.get(metric.unit, "")
    if metric.unit == "1" and metric.instrument != "gauge":
        unit = ""
    return label(metric.name) + unit + ("_total" if metric.instrument == "counter" else "")


def counted(event: type[Event]) -> str:
    """Name of the counter that the count connector makes of an event."""
    return f"{label(event.NAME)}_total"


SPAN_CALLS = "traces_span_metrics_calls_total"
SPAN_DURATION = "traces_span_metrics_duration_seconds"


@dataclass(frozen=True, slots=True)
class Series:
    """A series that exists in Prometheus, and the labels it can carry."""

    name: str
    labels: frozenset[str]


_SERVICE = {"job"}
_PROCESS = {"job", "instance"}
_SPAN = {label(key) for key in SPAN_DIMENSIONS} | {"span_name", "status_code"} | _SERVICE


def _known() -> dict[str, Series]:
    found = [Series(SPAN_CALLS, frozenset(_SPAN)), *_histogram(SPAN_DURATION, _SPAN)]
    for metric in METRICS:
        labels = {label(key) for key in metric.labels} | _PROCESS
        if metric.instrument == "histogram":
            found += _histogram(series(metric), labels)
        else:
            found.append(Series(series(metric), frozenset(labels)))
    for event, fields in COUNTED_EVENTS.items():
        keys = {label(attributes_of(event)[field].key) for field in fields}
        found.append(Series(counted(event), frozenset(keys | _SERVICE)))
    found.append(Series(f"{label(REPEATED)}_total", frozenset({label(key) for key in REPEATED_LABELS} | _SERVICE)))
    # The collector about itself: only what the alerts read.
    found += [
        Series(name, frozenset({"exporter", "receiver", *_PROCESS}))
        for name in ("otelcol_receiver_refused_spans_total", "otelcol_exporter_send_failed_spans_total")
    ]
    return {one.name: one for one in found}


def _histogram(name: str, labels: set[str]) -> list[Series]:
    return [Series(name + part, frozenset(labels | {"le"})) for part in _HISTOGRAM_PARTS]


KNOWN = _known()
"""Every series that a dashboard or an alert may read."""

_SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}")
_MATCHER = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")


def unknown_words(expression: str) -> list[str]:
    """Series and labels in a PromQL expression that nothing produces.

    Every selector must be written with braces, which is also what tells it from a function.
    """
    selectors = _SELECTOR.findall(expression)
    if not selectors:
        return [f"no selector in {expression!r}"]
    unknown = []
    allowed: set[str] = set()
    for name, matchers in selectors:
        if name not in KNOWN:
            unknown.append(name)
            continue
        allowed |= KNOWN[name].labels
        unknown += [f"{name}{{{key}}}" for key in _MATCHER.findall(matchers) if key not in KNOWN[name].labels]
    for group in _GROUPING.findall(expression):
        unknown += [key for key in re.findall(r"\w+", group) if key not in allowed]
    return unknown
