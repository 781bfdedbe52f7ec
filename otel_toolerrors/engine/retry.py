"""Whether a failed attempt is repeated: an ordered table of reasons not to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import ToolRules
from otel_toolerrors.vocabulary import RefusalReason

TOO_MANY = 429
CAPACITY_STATUS = frozenset({TOO_MANY, 503, 529})
"""Statuses by which a service says that it has too much to do. Source: S1."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """What is known when an attempt has failed."""

    fault: Fault
    number: int
    rules: ToolRules
    keyed: bool
    """The call carries an idempotency key."""


def refusal(attempted: Attempted) -> RefusalReason | None:
    """Give the first reason not to repeat the call; None: repeat it."""
    return next((reason for reason, applies in _REASONS if applies(attempted)), None)


def may_have_happened(fault: Fault) -> bool:
    """Tell whether a failed write may have taken effect, so that nothing may blindly do it again (S3)."""
    return fault.effects in ("write", "destructive") and fault.side_effects != "none"


def _unsafe(attempted: Attempted) -> bool:
    # A key makes an unknown effect repeatable; what has certainly happened is not repeated at all (S3).
    return may_have_happened(attempted.fault) and not (attempted.keyed and attempted.fault.side_effects == "unknown")


def _is_capacity(fault: Fault) -> bool:
    return fault.category == "rate_limited" or fault.http_status in CAPACITY_STATUS


_REASONS: tuple[tuple[RefusalReason, Callable[[Attempted], bool]], ...] = (
    ("server", lambda a: a.fault.refused_by_server),
    ("not_retryable", lambda a: not a.fault.passing),
    ("effects", _unsafe),
    ("source", lambda a: not a.rules.foreground and _is_capacity(a.fault)),
    ("subscription", lambda a: a.rules.run.subscription and a.fault.http_status == TOO_MANY),
    ("attempts", lambda a: not a.rules.retry.persistent and a.number >= a.rules.retry.max_attempts),
)
