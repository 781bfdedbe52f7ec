"""What the text says. The weakest signal: read last, anchored, and only its beginning and end."""

from __future__ import annotations

import http
import re
from collections.abc import Iterator, Sequence
from typing import Final

from otel_toolerrors.faults.evidence import Hit
from otel_toolerrors.faults.patterns import compiled
from otel_toolerrors.faults.redaction import may_be_kept
from otel_toolerrors.faults.rules import RuleSet

from .codes import spoken

_WINDOW: Final = 600
_AGAIN: Final = re.compile(
    r"\b(?:try|retry|wait)(?: again)?(?: in| after| for)? (?P<amount>\d{1,6}(?:\.\d{1,3})?) ?"
    r"(?P<unit>ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b",
    re.IGNORECASE,
)
_UNITS: Final = (("ms", 0.001), ("milli", 0.001), ("m", 60.0), ("s", 1.0), ("h", 3600.0))
_STATUS: Final = re.compile(
    r"\b(?:https?(?:/\d\.\d)?(?: status| error| response)?(?: code)?|status(?: code)?|error code|response code|\bcode)"
    r"(?: of| is| was)?[ :=\"']{1,4}\(?(?P<before>[3-5]\d\d)\b"
    r"|(?<![\d.\-/:#])(?P<after>[3-5]\d\d)\b(?= (?P<word>(?:client|server) error|(?:error )?respons|status)?)",
    re.IGNORECASE,
)
_PHRASES: Final = {status.value: status.phrase.lower() for status in http.HTTPStatus if status >= 300}
_DIGITS: Final = re.compile(r"[3-5]\d\d\b")


def hits(text: str, status: int | None, rules: RuleSet) -> Sequence[Hit]:
    """Every rule that the text matches, codes that it quotes, and an HTTP status that it speaks of."""
    if not text:
        return ()
    text = window(text)
    known = rules.heard.get((text, status))
    if known is not None:
        return known
    found = tuple(_hits(text, status, rules))
    return rules.heard.keep((text, status), found) if may_be_kept(text) else found


def _hits(text: str, status: int | None, rules: RuleSet) -> Iterator[Hit]:
    last = None
    for pattern, rule in rules.patterns(text.lower()):
        if rule is last or (rule.if_status and status not in rule.if_status):
            continue
        if (match := compiled(pattern).search(text)) is not None:
            yield Hit("message", match.group()[:80], rule, "strong" if rule.if_status or rule.telling else "weak")
            last = rule
    for code in spoken(text):
        if (known := rules.code(code)) is not None:
            yield Hit("code", code, known, "weak")
    number = spoken_status(text) if status is None else None
    if number is not None and (known := rules.number("status", number)) is not None:
        yield Hit("status", str(number), known, "weak")


def window(text: str) -> str:
    """The part of a text that is searched."""
    return text if len(text) <= 2 * _WINDOW else f"{text[:_WINDOW]}\n{text[-_WINDOW:]}"


def spoken_status(text: str) -> int | None:
    """An HTTP status that a text speaks of: ``HTTP 403``, ``status code 503``, ``502 Bad Gateway``."""
    if _DIGITS.search(text) is None:
        return None
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
    return float(match["amount"]) * next(scale for prefix, scale in _UNITS if unit.startswith(prefix))
