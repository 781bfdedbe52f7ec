"""From the vocabulary to OpenTelemetry: spans, events, metrics, the set-up and the embedded sink."""

from __future__ import annotations

from .call_trace import CallTrace
from .guard import Stencil
from .handle import Telemetry
from .setup import bridge_events, configure
from .signals import EventSignal
from .trace_files import Rotation
from .tracing import RunTrace, Tracing

__all__ = [
    "CallTrace",
    "EventSignal",
    "Rotation",
    "RunTrace",
    "Stencil",
    "Telemetry",
    "Tracing",
    "bridge_events",
    "configure",
]
