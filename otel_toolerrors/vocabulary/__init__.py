"""The words: every event, span attribute and metric, in one place.

Telemetry writes them, analysis reads them, the reference page prints them.
This room imports nothing else of the package.
"""

from __future__ import annotations

from .attempt_events import (
    BreakerMoved,
    BreakerRejected,
    BudgetExhausted,
    CredentialsRefreshed,
    FaultClassified,
    HedgeStarted,
    RetryRefused,
    RetryScheduled,
    WaitHeartbeat,
)
from .attributes import Attribute, Scalar, attributes_of, to_attributes
from .call_events import CallCancelled, CallDenied, ErrorSurfaced, FallbackUsed, PacketIssued, RunStopped, ToolDegraded
from .events import EVENTS, Event
from .metrics import METRICS, Metric
from .model_events import ContextOverflowed, ModelSwitched
from .spans import SPANS, AttemptSpan, CallSpan, RunSpan, Span
from .words import (
    Arm,
    BreakerKind,
    BreakerState,
    CallOutcome,
    Category,
    Effects,
    Foresight,
    OutcomeKind,
    RefusalReason,
    RetryBasis,
    RetryOutcome,
    SideEffects,
    StopReason,
)

VERSION = "1"
"""Version of the vocabulary; a renamed or removed word raises it, an added one does not."""

__all__ = [
    "EVENTS",
    "METRICS",
    "SPANS",
    "VERSION",
    "Arm",
    "AttemptSpan",
    "Attribute",
    "BreakerKind",
    "BreakerMoved",
    "BreakerRejected",
    "BreakerState",
    "BudgetExhausted",
    "CallCancelled",
    "CallDenied",
    "CallOutcome",
    "CallSpan",
    "Category",
    "ContextOverflowed",
    "CredentialsRefreshed",
    "Effects",
    "ErrorSurfaced",
    "Event",
    "FallbackUsed",
    "FaultClassified",
    "Foresight",
    "HedgeStarted",
    "Metric",
    "ModelSwitched",
    "OutcomeKind",
    "PacketIssued",
    "RefusalReason",
    "RetryBasis",
    "RetryOutcome",
    "RetryRefused",
    "RetryScheduled",
    "RunSpan",
    "RunStopped",
    "Scalar",
    "SideEffects",
    "Span",
    "StopReason",
    "ToolDegraded",
    "WaitHeartbeat",
    "attributes_of",
    "to_attributes",
]
