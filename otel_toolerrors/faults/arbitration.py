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

_ORDER: Final = {"rule": 0, "code": 1, "header": 2, "message": 3, "status": 4, "errno": 5, "type": 6, "location": 7, "value": 8}
_TRANSPORT: Final = frozenset({"connection", "timeout", "tls", "dns", "proxy"})
_OPEN: Final = frozenset({"gave_up", "process.failed", "response.unreadable"})


def choose(hits: list[Hit]) -> Hit | None:
    """The hit that decides for one exception by itself."""
    return min(hits, key=_rank) if hits else None


def _rank(hit: Hit) -> tuple[int, int]:
    if not hit.rule.ours:
        return (0, 0)
    if hit.strength == "weak":
        return (3, 1 if hit.rule.vague else 0)
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
    return family(own.rule.code) == family(cause.rule.code) == "transport" and definite(cause)
