"""A classification rule that would have told an error from others, from what its faults have in common."""

from __future__ import annotations

import re
from typing import Any

from otel_toolerrors.analysis.patch import Patch, Row
from otel_toolerrors.faults import redact
from otel_toolerrors.faults.fingerprint import template

_MARK = re.compile(r"<\w+>")
_LITERAL = 80
_SHORTEST = 4


def rule(fault: Any, category: str, *, passing: bool, reason: str) -> Patch | None:
    """Propose a rule for faults like this one: its status, and the longest run of plain words in its message.

    None if neither its words nor its type tell it from others.
    """
    keys: dict[str, Any] = {"code": _code(fault), "category": category, "passing": passing}
    words = literal(redact(fault.message or ""))  # others record errors as they came
    if words:
        keys["message"] = [words]
        keys["telling"] = True
        if fault.http_status is not None:
            keys["if_status"] = [fault.http_status]
    elif fault.exception_type:
        keys["types"] = [fault.exception_type.rpartition(".")[2]]
    else:
        return None
    return Patch("rules", rows=(Row("rule", keys, reason),))


def literal(message: str) -> str | None:
    """The longest piece of a message's template without marks, as a pattern; None if too little is left."""
    pieces = (piece.strip(" .,:;-") for piece in _MARK.split(template(message)))
    best = max(pieces, key=len, default="")[:_LITERAL].rstrip()
    return re.escape(best).replace(r"\ ", " ").replace(r"\-", "-") if len(best) >= _SHORTEST else None


def _code(fault: Any) -> str:
    base = re.sub(r"[^a-z0-9_.]+", "_", (fault.code or "error").lower()).strip("._") or "error"
    return f"own.{base}"
