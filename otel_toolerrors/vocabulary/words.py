"""The closed sets of values that the vocabulary uses."""

from __future__ import annotations

from typing import Literal

Category = Literal[
    "transient",  # the same call may succeed soon
    "rate_limited",  # the caller is too fast; wait, then the same call succeeds
    "validation",  # the caller's arguments are wrong and can be fixed
    "not_found",  # what the arguments name does not exist
    "permission",  # credentials or authorisation, 401 included
    "bug",  # a defect of the tool's own code or environment
    "permanent",  # will never work: unsupported, gone, quota or billing exhausted
    "cancelled",  # control flow; always re-raised
    "unknown",  # nothing tells
]
"""What kind of thing happened. Closed: finer distinctions live in the fault's ``code``."""

SideEffects = Literal["none", "unknown", "committed"]
"""What is known about whether a failed write took effect."""

Effects = Literal["read", "idempotent", "write", "destructive"]
"""What a tool declares about itself. An undeclared tool is a ``write``."""

OutcomeKind = Literal["ok", "surfaced", "degraded", "denied", "stopped", "cancelled"]
"""How a logical call ended, as the caller sees it."""

CallOutcome = Literal["ok", "recovered", "surfaced", "degraded", "denied", "stopped", "cancelled"]
"""The same in traces, where a success that took more than one attempt is ``recovered``."""

RetryOutcome = Literal["ok", "recovered", "failed_without_retry", "failed_with_retry"]
"""The four-way outcome that fleet dashboards count."""

BreakerKind = Literal["run", "service"]
"""run: guards against a stuck model. service: guards a sick service."""

BreakerState = Literal["closed", "open", "half_open", "forced_open", "disabled"]
"""The states of a service breaker; a run breaker knows only closed and open."""

RetryBasis = Literal["backoff", "retry_after", "pacing", "persistent", "credentials"]
"""What chose the delay before a retry."""

RefusalReason = Literal[
    "not_retryable",  # the fault will not pass by itself
    "attempts",  # the attempt limit is reached
    "deadline",  # the wait does not fit the time that is left
    "effects",  # a write may have happened and carries no idempotency key
    "budget",  # the service's retry budget is spent
    "source",  # a background call met a capacity error
    "subscription",  # a subscription's window limit does not pass within a turn
    "server",  # the server said not to
    "breaker",  # the service breaker is open
    "run",  # the run has stopped
]
"""Why a failed attempt was not repeated."""

Foresight = Literal["retry", "stop", "surface"]
"""What a policy that only observes would have done next."""

StopReason = Literal[
    "permission",  # access denied; a person must act
    "exhausted",  # a passing error did not pass
    "permanent",  # the operation can never work
    "run_breaker",  # one tool failed too often in a row
    "denials",  # the permission check denied too often
    "corrections",  # too many corrected turns in a row
    "aborted",  # the caller stopped the run
]
"""Why a run stopped."""

Arm = Literal["context", "bare"]
"""Experiment arm of a run: recovery context injected, or the bare error only."""

DropReason = Literal[
    "queue_full",  # more ended than could be written
    "export_failed",  # the endpoint did not take it
    "not_encodable",  # it cannot be expressed in OTLP
    "shutdown",  # it could not be written before the end of the process
    "closed",  # it ended after telemetry was shut down
    "internal_error",  # a fault of ours, kept away from the tool's result
]
"""Why telemetry was lost."""
