"""Whether a failed call may pass, and its side effects: what the deciding rule says, and what the evidence adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .arbitration import definite, family

if TYPE_CHECKING:
    from .opinion import Opinion

_SENT: Final = frozenset({"timeout.read", "timeout.write", "connection.reset"})
"""Codes that show that a request had left."""

_UNDECIDED: Final = frozenset({408, 499})
"""4xx statuses that do not say that the server refused."""


def settle(own: Opinion) -> None:
    """Fill in ``passing`` and ``side_effects``, now that it is known what decides."""
    hit = own.hit
    if hit is None:
        own.passing = own.should_retry is True or (own.should_retry is None and own.hint is True)
        return
    rule, status = hit.rule, own.http_status
    own.passing = rule.passing
    if own.should_retry is not None:
        own.passing = own.should_retry
    elif own.hint is not None and not definite(hit):
        own.passing = own.hint

    state = rule.side_effects
    if state == "none" and hit.strength == "weak" and not (rule.own_words and own.own_words):
        state = "unknown"  # prose proves nothing
    if state == "none" and status is not None and 200 <= status < 300:
        state = "unknown"  # the server had answered with success
    if state == "unknown" and own.connecting and family(rule.code) == "transport":
        state = "none"  # no request had been sent
    if state == "unknown" and _refused(own) and rule.code != "response.unreadable":
        state = "none"  # whatever its finer meaning, the server refused
    if state == "none" and own.sent:
        state = "unknown"  # an earlier request of the same call may have been carried out
    own.side_effects = state
    own.sent = own.sent or rule.code in _SENT or (status is not None and status >= 500)


def _refused(own: Opinion) -> bool:
    """Whether a 4xx says that the request was refused; one that is transient may be about a request in flight."""
    status = own.http_status
    if own.hit is None or status is None or not 400 <= status < 500 or status in _UNDECIDED:
        return False
    return own.hit.rule.category != "transient" or status == 429
