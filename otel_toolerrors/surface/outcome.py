"""What a call gives back: always a value of this type, whatever happened."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from otel_toolerrors.engine import Decision
from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import OutcomeKind, StopReason

from .envelope import Envelope
from .messages import CANCELLED, LOWER_QUALITY, NOT_RUN, STALE, STOP_MESSAGES
from .packet import RecoveryPacket


class ToolRunTerminated(Exception):  # noqa: N818 - the field's name for it (S0)
    """Raised by `Outcome.unwrap` when the run has stopped.

    ``message`` is a plain, fixed text for the user; ``outcome`` is the whole story.
    """

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.message = message
        self.outcome = outcome


class RecoveryExhausted(Exception):  # noqa: N818 - the field's name for it (S1)
    """Raised by `Outcome.unwrap` when a call failed and the run goes on.

    Its text names the operation, the last error, the attempts made and what was tried.
    """

    def __init__(self, outcome: Outcome) -> None:
        tried = " -> ".join(outcome.tried) or "nothing"
        super().__init__(f"{outcome.tool} failed after {outcome.attempts} attempt(s) ({tried}): {outcome.text}")
        self.outcome = outcome


@dataclass(slots=True)
class Outcome:
    """How a logical call ended. It can always be rendered as a valid tool result."""

    kind: OutcomeKind
    tool: str
    call_id: str | None = None
    value: Any = None
    """The tool's result when ``kind`` is ``ok``."""
    envelope: Envelope | None = None
    """The error in fields; None when ``kind`` is ``ok`` or ``cancelled``."""
    packet: RecoveryPacket | None = None
    """For the person who takes over; set when the run stopped, or a write may or may not have happened."""
    fault: Fault | None = None
    """The last fault, also of a call that recovered."""
    attempts: int = 0
    tried: tuple[str, ...] = ()
    """Tools called, one name per attempt."""
    stop: StopReason | None = None
    """Why the run has stopped, if it has."""
    stop_message: str | None = None
    """The fixed text for the user, if it has."""
    fallback: str | None = None
    """The tool whose value this is, or ``cache``."""
    age: float | None = None
    """Seconds since a cached value was read."""
    note: str | None = None
    """What the model must know about a value that stands in for another."""
    error: Exception | None = field(default=None, repr=False)
    """In observe mode, what the tool raised: raise it again to change nothing. It is not redacted."""
    message: str | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """What the model is shown: never empty; of an error never a traceback, and redacted."""
        if self.message is not None:
            return self.message
        text = render_value(self.value)
        return f"{self.note}\n{text}" if self.note else text

    @property
    def ok(self) -> bool:
        """Whether ``value`` is a result."""
        return self.kind == "ok"

    @property
    def is_error(self) -> bool:
        """What the provider's ``is_error`` flag should say; a cancelled call is not an error (S1)."""
        return self.kind not in ("ok", "cancelled")

    def unwrap(self) -> Any:
        """Give the value, for those who like exceptions.

        Raises:
            ToolRunTerminated: The run has stopped.
            RecoveryExhausted: The call failed and the run goes on.
        """
        if self.ok:
            return self.value
        if self.stop_message is not None:
            raise ToolRunTerminated(self.stop_message, self)
        raise RecoveryExhausted(self)


def answered(decision: Decision, tool: str, call_id: str | None) -> Outcome:
    """Make the outcome of a call that has nothing to explain: it worked, or was not made."""
    # By position: half the price, which every call that works pays.
    outcome = Outcome(
        decision.kind, tool, call_id, decision.value, None, None, decision.fault, decision.attempts, decision.tried
    )
    if decision.kind != "ok":
        stop = outcome.stop = decision.stop
        outcome.stop_message = STOP_MESSAGES[stop] if stop else None
        outcome.message = NOT_RUN if stop else CANCELLED
    elif decision.fallback is not None:
        outcome.fallback, outcome.age, outcome.note = decision.fallback, decision.age, _note(decision)
    return outcome


def _note(decision: Decision) -> str | None:
    if decision.age is not None:
        return STALE.format(age=decision.age)
    if decision.fallback is not None and decision.quality:
        return LOWER_QUALITY.format(fallback=decision.fallback, quality=decision.quality)
    return None


def render_value(value: Any) -> str:
    """Write a good result as text for the model: strings as they are, the rest as JSON."""
    if isinstance(value, str):
        return value or "(empty result)"
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value) or "(empty result)"
