"""The events: what the engine decided, as frozen dataclasses.

Each class *is* a row of the vocabulary. Its ``NAME`` is the span event's (and
log record's) name, its fields are the attributes, its ``VIEW`` is the DuckDB
view that the analysis builds for it, and its docstring is what the reference
page says. An event that is added here appears in all of them.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

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
from .call_events import (
    CallCancelled,
    CallDenied,
    ErrorSurfaced,
    FallbackUsed,
    PacketIssued,
    RunStopped,
    ToolDegraded,
)
from .model_events import (
    ContextOverflowed,
    ModelSwitched,
)


class Event(Protocol):
    """Anything the engine reports."""

    NAME: ClassVar[str]
    VIEW: ClassVar[str]


EVENTS: tuple[type[Event], ...] = (
    FaultClassified,
    RetryScheduled,
    RetryRefused,
    HedgeStarted,
    BreakerMoved,
    BreakerRejected,
    FallbackUsed,
    ToolDegraded,
    ErrorSurfaced,
    RunStopped,
    PacketIssued,
    CredentialsRefreshed,
    CallDenied,
    CallCancelled,
    ContextOverflowed,
    ModelSwitched,
    WaitHeartbeat,
    BudgetExhausted,
)
"""The table. Telemetry, analysis and the reference page all read it."""
