"""The events that a fault gives rise to."""

from __future__ import annotations

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import ToolRules
from otel_toolerrors.vocabulary import (
    FaultClassified,
    Foresight,
    RefusalReason,
    RetryBasis,
    RetryRefused,
    RetryScheduled,
)

PACED = "rate_limit.paced"
"""Code of a call that was held back because the service had asked others to wait."""


def classified(tool: str, attempt: int, fault: Fault, would: Foresight | None = None) -> FaultClassified:
    """Say what an attempt's failure is; and, for a layer that only observes, what would have come next."""
    return FaultClassified(
        tool=tool,
        attempt=attempt,
        category=fault.category,
        code=fault.code,
        passing=fault.passing,
        retryable=fault.retryable,
        side_effects=fault.side_effects,
        fingerprint=fault.fingerprint,
        message=fault.message,
        exception_type=fault.exception_type,
        http_status=fault.http_status,
        retry_after=fault.retry_after,
        signal=fault.signal,
        strength=fault.strength,
        dissent=fault.dissent,
        would=would,
    )


def scheduled(tool: str, attempt: int, fault: Fault, delay: float, basis: RetryBasis) -> RetryScheduled:
    """Say that the call will be repeated."""
    return RetryScheduled(
        tool=tool, attempt=attempt, delay=delay, basis=basis, code=fault.code, fingerprint=fault.fingerprint
    )


def refused(tool: str, attempt: int, fault: Fault, reason: RefusalReason, delay: float | None) -> RetryRefused:
    """Say that it will not, and why."""
    return RetryRefused(
        tool=tool, attempt=attempt, reason=reason, code=fault.code, fingerprint=fault.fingerprint, delay=delay
    )


def held_back(code: str, message: str, rules: ToolRules, retry_after: float | None) -> Fault:
    """Describe a call that was never made, because the service is resting or busy."""
    return Fault(
        category="rate_limited" if code == PACED else "transient",
        code=code,
        passing=True,
        side_effects="none",
        effects=rules.effects,
        message=message,
        fingerprint=code,
        retry_after=retry_after,
        signal="rule",
        strength="certain",
    )
