"""Secrets out of texts, before any text leaves this room."""

from __future__ import annotations

import re

LIMIT = 1_000
"""Default length of a redacted text, in characters."""

MARK = "<redacted>"
_CUT = " …[cut]… "
_MARGIN = 4_000  # looked at beyond the limit, so that a secret across the cut is whole when it is judged

_WORTH_A_LOOK = re.compile(r"[=:@]|-----|[A-Za-z0-9+/_\-]{16}")

_SECRET_WORDS = (
    r"(?:api|access|secret|private|client|auth|account|shared|signing|encryption|master|session|refresh|bearer|deploy|webhook|app|subscription|consumer|service)"
    r"[ _.\-]?(?:key|token|secret|password|credential)s?(?:[ _.\-]?(?:id|key|value))?"
    r"|pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|authorization|x-[a-z\-]*(?:key|token|auth)|sig(?:nature)?|jwt|connection[ _]?string"
    r"|set-cookie|cookie|sessionid|session_id|sid|otp|pin"
)

_STRUCTURES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,20}-----.{0,20000}?(?:-----END [A-Z0-9 ]{0,60}-----|\Z)",
            re.DOTALL,
        ),
        "<redacted private key>",
    ),
    (re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.\-]{1,30}://)[^\s/@:'\"<>]{0,200}:[^\s@'\"<>]{1,400}@"), rf"\1{MARK}@"),
    (
        re.compile(
            r"\b(bearer|basic|token|digest|negotiate|apikey)(\s+)[A-Za-z0-9._~+/\-]{6,4000}={0,2}", re.IGNORECASE
        ),
        rf"\1\2{MARK}",
    ),
    (re.compile(r"\beyJ[A-Za-z0-9_\-]{8,4000}\.[A-Za-z0-9_\-]{4,8000}(?:\.[A-Za-z0-9_\-]{0,4000})?"), MARK),
    (
        re.compile(
            rf"([\"']?\b(?:[A-Za-z0-9]{{1,40}}[_.\-]){{0,4}}(?:{_SECRET_WORDS})\b[\"']?\s{{0,4}}(?:=>|:=|[=:])\s{{0,4}})(\"[^\"\n]{{1,2000}}\"|'[^'\n]{{1,2000}}'|[^\s,;&\"'<>{{}}()\[\]]{{2,2000}})",
            re.IGNORECASE,
        ),
        rf"\1{MARK}",
    ),
    (
        re.compile(
            r"\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|xox[a-z]|npm|pypi|hf|dop|doo|shpat|lin|key|tok|pat|whsec|ya29|AKIA|ASIA|AIza|SG)[_\-.]?[A-Za-z0-9_\-.]{14,400}"
        ),
        MARK,
    ),
)


def redact(text: str, limit: int = LIMIT) -> str:
    """The text on one line, without secrets and control characters, cut to ``limit`` characters with a visible mark."""
    text = _window(text, limit)
    if _WORTH_A_LOOK.search(text):
        for pattern, replacement in _STRUCTURES:
            text = pattern.sub(replacement, text)
    text = (
        " ".join("".join(c if c.isprintable() else " " for c in text).split())
        if not text.isprintable() or "  " in text
        else text.strip()
    )
    return _cut(text, limit)


def _window(text: str, limit: int) -> str:
    window = limit + _MARGIN
    return text if len(text) <= 2 * window else text[:window] + _CUT + text[-window:]


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    if limit <= 4 * len(_CUT):
        return text[:limit]
    head = (limit - len(_CUT)) * 2 // 3
    return text[:head] + _CUT + text[-(limit - len(_CUT) - head) :]
