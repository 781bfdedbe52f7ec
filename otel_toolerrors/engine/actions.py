"""What the engine asks of its driver, and what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import Effects, OutcomeKind, RefusalReason, StopReason

# Attempt, Succeeded and Decision are made on every call that works; freezing them would triple their price.


@dataclass(slots=True)
class Attempt:
    """Call the tool once; reply with `Succeeded` or `Failed`."""

    tool: str
    number: int
    arguments: Mapping[str, Any]
    effects: Effects
    timeout: float | None
    """Seconds; None for no limit."""
    hedge_after: float | None = None
    """Seconds after which a second try may be started beside it; None for never."""
    found: Any = None
    """For the driver's hands, which may keep here what they call by this name."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait; reply with `Done`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Refresh:
    """Refresh a credential; reply with `Done`."""

    credential: str


Action = Attempt | Sleep | Refresh


@dataclass(slots=True)
class Succeeded:
    """The attempt returned."""

    now: float
    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed with a classified fault."""

    now: float
    fault: Fault


@dataclass(frozen=True, slots=True)
class Done:
    """The wait is over, or the refresh was tried."""

    now: float
    ok: bool = True


Reply = Succeeded | Failed | Done


@dataclass(slots=True)
class Decision:
    """How the call ended, before anyone puts it into words."""

    kind: OutcomeKind
    value: Any = None
    fault: Fault | None = None
    """The last fault, also of a call that recovered."""
    attempts: int = 0
    tried: tuple[str, ...] = ()
    """Every tool that was called, in order, one name per attempt."""
    failures: int = 0
    """Surfaced failures of this tool in a row, this one included."""
    refusal: RefusalReason | None = None
    """Why the last failure was not repeated."""
    stop: StopReason | None = None
    """Set when this call stopped the run, or was not made because the run had stopped."""
    fallback: str | None = None
    """The tool whose value this is, or ``cache``."""
    quality: str | None = None
    """What the fallback lacks."""
    age: float | None = None
    """Seconds since the cached value was read."""
