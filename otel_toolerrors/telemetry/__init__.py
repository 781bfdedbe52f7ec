"""From the vocabulary to OpenTelemetry: spans, events, metrics, the set-up and the embedded sink."""

from __future__ import annotations

from .call_trace import CallTrace
from .tracing import RunTrace, Tracing

__all__ = ["CallTrace", "RunTrace", "Tracing"]
