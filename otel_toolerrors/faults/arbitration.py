"""Which signal decides, and why.

1. A rule of the user's.
2. A code of the service's that says something definite, then a text that says
   so beside its HTTP status: both are finer than the status.
3. The HTTP status, the errno, the class's name, the place it was raised at,
   as far as they are definite.
4. What is definite in the causes, where the error itself is vague about the same thing.
5. What is vague, in the same order; the text's words last.
"""

from __future__ import annotations

from typing import Final

from .evidence import Hit

_ORDER: Final = {
    "rule": 0,
    "code": 1,
    "errno": 2,
    "header": 3,
    "status": 4,
    "type": 5,
    "location": 6,
    "value": 7,
    "message": 8,
}
_TRANSPORT: Final = frozenset({"connection", "timeout", "tls", "dns", "proxy", "service"})
_OPEN: Final = frozenset({"gave_up", "process.failed"})


def choose(hits: list[Hit]) -> Hit | None:
    """The hit that decides for one exception by itself."""
    if not hits:
        return None
    if len(hits) == 1:
        return hits[0]
    best = min(hits, key=_rank)
    if best.rule.category == "rate_limited":  # a limit that waiting does not lift comes under the same name
        best = next((hit for hit in hits if hit.rule.code == "quota.exhausted" and hit.strength == "strong"), best)
    return best if definite(best) or best.strength == "weak" else _sharpened(best, hits)


def _sharpened(best: Hit, hits: list[Hit]) -> Hit:
    """What the text adds to a vague transport error: which one it is, or that it is something that no retry mends."""
    if family(best.rule.code) != "transport":
        return best
    for hit in hits:
        if (
            hit.strength == "weak"
            and not hit.rule.vague
            and (family(hit.rule.code) == "transport" or not hit.rule.passing)
        ):
            return hit
    return best


def _rank(hit: Hit) -> tuple[int, int]:
    if not hit.rule.ours:
        return (0, 0)
    if hit.rule.code in _OPEN:
        return (4, 0)
    if hit.strength == "weak":
        return (3, _ORDER[hit.signal] + (10 if hit.rule.vague else 0))
    if hit.signal == "status" and hit.rule.telling:
        return (1, 0)
    return (2 if hit.rule.vague else 1, _ORDER[hit.signal])


def family(code: str) -> str:
    """The first word of a code; all that can go wrong on the way to a server is one family."""
    root = code.partition(".")[0]
    return "transport" if root in _TRANSPORT else root


def definite(hit: Hit | None) -> bool:
    """Whether the hit leaves nothing for a cause to say."""
    return hit is not None and hit.strength != "weak" and not hit.rule.vague


def yields_to(own: Hit | None, cause: Hit, *, explicit: bool) -> bool:
    """Whether what an exception says gives way to what its cause says."""
    if own is None or own.rule.code in _OPEN:
        return explicit or cause.signal not in ("location", "message")
    if definite(own):
        return False
    if own.strength == "weak":
        return cause.strength != "weak" and (explicit or cause.signal != "location")
    if own.rule.code.startswith("http.") and cause.rule.code == "response.unreadable":
        return True  # a client's own status for an answer that was none
    return family(own.rule.code) == family(cause.rule.code) == "transport" and definite(cause)
