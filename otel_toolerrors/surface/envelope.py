"""The error envelope: what a failed call returns, in fields that drive the next step (S3)."""

from __future__ import annotations

from pydantic import BaseModel

from otel_toolerrors.engine import Decision
from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import Category, SideEffects

from .published import PUBLISHED


class EnvelopeError(BaseModel):
    """The error inside the envelope."""

    model_config = PUBLISHED

    code: str
    """Stable, fine code: ``timeout.read``, ``http.404``."""
    category: Category
    retryable: bool
    """Whether repeating the same call is worthwhile and safe."""
    side_effects: SideEffects
    """Whether the call took effect: none, unknown or committed."""
    human_action_required: bool
    """True: no argument the model can change will help."""
    retry_after: float | None = None
    """Seconds to wait before a repeat can work, where the service said so."""
    summary: str
    """What happened: redacted, bounded, neutralised; never a traceback."""
    recovery_hint: str | None = None
    """One suggestion."""
    trace_id: str | None = None
    """Where to look it up."""


class Envelope(BaseModel):
    """The whole answer. Its JSON schema is published as ``docs/envelope.schema.json``."""

    model_config = PUBLISHED

    ok: bool
    """True only when the tool's own result stands beside it."""
    tool: str
    error: EnvelopeError | None = None


NEEDS_A_PERSON = frozenset({"permission", "permanent", "bug"})
"""Categories that no argument of the model's can fix (S3)."""


def is_open_write(fault: Fault) -> bool:
    """Tell whether a write may or may not have happened: somebody has to look (S3)."""
    return fault.effects in ("write", "destructive") and fault.side_effects == "unknown"


def envelope_for(
    decision: Decision, fault: Fault, tool: str, *, summary: str, hint: str | None, trace_id: str | None
) -> Envelope:
    """Put a failure into the envelope."""
    stopped = decision.kind == "stopped" and fault.category not in ("validation", "not_found")
    return Envelope(
        ok=False,
        tool=tool,
        error=EnvelopeError(
            code=fault.code,
            category=fault.category,
            # Once the engine has given up, a repeat by the model is not advised either.
            retryable=fault.retryable and decision.kind != "stopped",
            # A read has none; what is known about it matters to a retry only.
            side_effects="none" if fault.effects == "read" else fault.side_effects,
            human_action_required=stopped or is_open_write(fault) or fault.category in NEEDS_A_PERSON,
            retry_after=fault.retry_after,
            summary=summary,
            recovery_hint=hint,
            trace_id=trace_id or None,
        ),
    )
