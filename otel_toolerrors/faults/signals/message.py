"""What the text says. The weakest signal: read last, anchored, and only its beginning and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..evidence import Hit
from ..rules import RuleSet
from .codes import leading_code

_WINDOW = 600
_AGAIN = re.compile(r"\b(?:try|retry|wait)(?: again)?(?: in| after| for)? (?P<amount>\d{1,6}(?:\.\d{1,3})?) ?(?P<unit>ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b", re.IGNORECASE)
_UNIT = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3600.0}


def window(text: str) -> str:
    """The part of a text that is searched."""
    return text if len(text) <= 2 * _WINDOW else f"{text[:_WINDOW]}\n{text[-_WINDOW:]}"


def hits(text: str, status: int | None, rules: RuleSet) -> Iterator[Hit]:
    """The first rule that the text matches; before it, those that need the HTTP status as well."""
    if not text:
        return
    text = window(text)
    lower = text.lower()
    found = False
    for trigger, pattern, rule in rules.messages:
        if rule.if_status and status not in rule.if_status:
            continue
        if trigger is not None and trigger not in lower:
            continue
        if found and not (rule.telling or rule.if_status):
            continue
        if (match := pattern.search(text)) is not None:
            yield Hit("message", match.group()[:80], rule, "strong" if rule.if_status or rule.telling else "weak")
            found = True
    if (code := leading_code(text)) is not None and (rule := rules.code(code)) is not None:
        yield Hit("code", code, rule, "weak")


def retry_after(text: str) -> float | None:
    """Seconds from a phrase such as "try again in 30 seconds"."""
    match = _AGAIN.search(window(text))
    if match is None:
        return None
    unit = match["unit"].lower()
    scale = 0.001 if unit.startswith(("ms", "milli")) else _UNIT[unit[0]] if unit[0] != "m" else 60.0
    return float(match["amount"]) * scale
