"""The fixed sentences: what the user is told when a run stops, what the model is told when nothing failed."""

from __future__ import annotations

from otel_toolerrors.vocabulary import StopReason

STOP_MESSAGES: dict[StopReason, str] = {
    "permission": "I could not finish: access was denied. The credentials or permissions need a look.",
    "exhausted": "I could not finish: a service I depend on did not recover after several tries.",
    "permanent": "I could not finish: an operation I depend on is not available.",
    "run_breaker": "I stopped: the same tool kept failing and I was not getting further.",
    "denials": "I stopped: too many of my actions were not allowed.",
    "corrections": "I stopped: too many calls in a row failed and I was not getting further.",
    "aborted": "I stopped because I was asked to.",
}
"""For the user, when a run stops: no further model turn is needed (S0)."""

FAILED = "{tool} failed ({category}, {code}): {summary}"
DENIED = "{tool} was not run: permission denied: {summary}"
DENIED_CODE = "denied"
"""Code of a call that our own permission check refused."""
STOPPED = "The run has stopped."
CANCELLED = "Operation cancelled."
NOT_RUN = "Not run: this run has stopped."
DEGRADED = "{tool} is not available for the rest of this run. Go on without it."
STILL_DEGRADED = "{tool} is not available."
UNKNOWN_TOOL = "there is no tool of this name"
NEAR_NAMES = "there is no tool of this name; did you mean {names}?"
STALE = "[cached {age:.0f} s ago, the live source is not available]"
LOWER_QUALITY = "[from {fallback}: {quality}]"
