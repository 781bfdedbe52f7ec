"""The metrics of the vocabulary, with label sets that cannot grow without bound."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, get_args

from opentelemetry.context import Context
from opentelemetry.metrics import Counter, Histogram, Meter

from otel_toolerrors.vocabulary import (
    BreakerMoved,
    BreakerState,
    ErrorSurfaced,
    Event,
    FaultClassified,
    Metric,
    RetryOutcome,
    RetryScheduled,
    metrics as words,
)
from otel_toolerrors.vocabulary.words import DropReason

UNKNOWN_TOOL: Final = "unknown"
"""Label of every tool that nobody registered: a model may call anything."""

_MOST_TOOLS: Final = 1_000
MOST_LABEL_SETS: Final = 5_000
"""Label sets that all metrics together may have; what comes later is counted as overflow."""
_OVERFLOW: Final = {"otel.metric.overflow": True}
_Labels = Mapping[str, str | bool]
_STATES: Final[tuple[str, ...]] = get_args(BreakerState)


class Instruments:
    """Every metric we record. Label sets are built once each and reused."""

    def __init__(self, meter: Meter, *, most_label_sets: int = MOST_LABEL_SETS) -> None:
        self._most_label_sets = most_label_sets
        self._calls = _counter(meter, words.CALLS)
        self._attempts = _counter(meter, words.ATTEMPTS)
        self._faults = _counter(meter, words.FAULTS)
        self._dropped = _counter(meter, words.TELEMETRY_DROPPED)
        self._duration = _histogram(meter, words.CALL_DURATION)
        self._delay = _histogram(meter, words.RETRY_DELAY)
        self._injected = _histogram(meter, words.INJECTED_TOKENS)
        state = words.BREAKER_STATE
        self._breaker = meter.create_gauge(state.name, state.unit, state.description)
        self._tools: set[str] = set()
        self._labels: dict[tuple[str | None, ...], _Labels] = {}
        self._call_labels: dict[tuple[str | None, ...], tuple[_Labels, _Labels, _Labels]] = {}

    def register(self, tool: str) -> None:
        """Let ``tool`` appear as a label: it was named by the program, not by a model."""
        if tool not in self._tools and len(self._tools) < _MOST_TOOLS:
            self._tools.add(tool)

    def label(self, tool: str) -> str:
        """The bounded label for ``tool``."""
        return tool if tool in self._tools else UNKNOWN_TOOL

    def count_call(
        self,
        tool: str,
        service: str,
        *,
        retry_outcome: RetryOutcome,
        category: str | None,
        error_type: str | None,
        attempts: int,
        duration: float,
        context: Context,
    ) -> None:
        """One logical call ended after ``duration`` seconds."""
        key = (tool, service, retry_outcome, category, error_type)
        labels = self._call_labels.get(key)
        if labels is None:
            tool = self.label(tool)
            labels = (
                self._labelled(words.CALLS, tool, service, retry_outcome, category),
                self._labelled(words.ATTEMPTS, tool, service),
                self._labelled(words.CALL_DURATION, tool, error_type),
            )
            if tool in self._tools and len(self._call_labels) < self._most_label_sets:
                self._call_labels[key] = labels
        of_call, of_attempts, of_duration = labels
        self._calls.add(1, of_call, context)
        if attempts:
            self._attempts.add(attempts, of_attempts, context)
        self._duration.record(duration, of_duration, context)

    def count_event(self, event: Event, context: Context) -> None:
        """Record what follows from ``event``, if anything does."""
        match event:
            case FaultClassified():
                labels = self._labelled(words.FAULTS, self.label(event.tool), event.category, event.code)
                self._faults.add(1, labels, context)
            case RetryScheduled():
                labels = self._labelled(words.RETRY_DELAY, self.label(event.tool), event.basis)
                self._delay.record(event.delay, labels, context)
            case ErrorSurfaced():
                labels = self._labelled(words.INJECTED_TOKENS, self.label(event.tool), event.arm)
                self._injected.record(event.injected_tokens, labels, context)
            case BreakerMoved(breaker="service"):
                for state in _STATES:
                    labels = self._labelled(words.BREAKER_STATE, event.name, state)
                    self._breaker.set(int(state == event.to_state), labels, context)
            case _:
                pass

    def count_dropped(self, reason: DropReason, items: int = 1) -> None:
        """Telemetry was lost. Never raises."""
        with suppress(Exception):
            self._dropped.add(items, self._labelled(words.TELEMETRY_DROPPED, reason))

    def _labelled(self, metric: Metric, *values: str | None) -> _Labels:
        key = (metric.name, *values)
        labels = self._labels.get(key)
        if labels is None:
            if len(self._labels) >= self._most_label_sets:
                return _OVERFLOW
            pairs = zip(metric.labels, values, strict=True)
            labels = self._labels[key] = {name: value for name, value in pairs if value is not None}
        return labels


def _counter(meter: Meter, metric: Metric) -> Counter:
    return meter.create_counter(metric.name, metric.unit, metric.description)


def _histogram(meter: Meter, metric: Metric) -> Histogram:
    return meter.create_histogram(metric.name, metric.unit, metric.description)
