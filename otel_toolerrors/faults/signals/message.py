"""What the text says. The weakest signal: read last, anchored, and only its beginning and end."""

from __future__ import annotations

import http
import re
from collections.abc import Iterator

from ..evidence import Hit
from ..rules import RuleSet
from .codes import leading_code

_WINDOW = 600
_AGAIN = re.compile(
    r"\b(?:try|retry|wait)(?: again)?(?: in| after| for)? (?P<amount>\d{1,6}(?:\.\d{1,3})?) ?(?P<unit>ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"\b(?:https?(?:/\d\.\d)?(?: status| error| response)?(?: code)?|status(?: code)?|error code|response code|\bcode)(?: of| is| was)?[ :=]{1,3}\(?(?P<before>[3-5]\d\d)\b"
    r"|(?<![\d.\-/:#])(?P<after>[3-5]\d\d)\b(?= (?P<word>(?:client|server) error|(?:error )?respons|status)?)",
    re.IGNORECASE,
)
_PHRASES = {status.value: status.phrase.lower() for status in http.HTTPStatus if status >= 300}
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
    last = None
    for trigger, pattern, rule in rules.messages:
        if (
            rule is last
            or (trigger is not None and trigger not in lower)
            or (rule.if_status and status not in rule.if_status)
        ):
            continue
        if (match := pattern.search(text)) is not None:
            yield Hit("message", match.group()[:80], rule, "strong" if rule.if_status or rule.telling else "weak")
            last = rule
    if (code := leading_code(text)) is not None and (found := rules.code(code)) is not None:
        yield Hit("code", code, found, "weak")
    if (
        status is None
        and (spoken := spoken_status(text)) is not None
        and (found := rules.number("status", spoken)) is not None
    ):
        yield Hit("status", str(spoken), found, "weak")


def spoken_status(text: str) -> int | None:
    """An HTTP status that a text speaks of: ``HTTP 403``, ``status code 503``, ``407 Proxy Authentication Required``."""
    for match in _STATUS.finditer(text):
        number = int(match["before"] or match["after"])
        if (
            match["before"]
            or match["word"]
            or text[match.end() :].lstrip().lower().startswith(_PHRASES.get(number, "\0"))
        ):
            return number
    return None


def retry_after(text: str) -> float | None:
    """Seconds from a phrase such as "try again in 30 seconds"."""
    match = _AGAIN.search(window(text))
    if match is None:
        return None
    unit = match["unit"].lower()
    scale = 0.001 if unit.startswith(("ms", "milli")) else _UNIT[unit[0]] if unit[0] != "m" else 60.0
    return float(match["amount"]) * scale
