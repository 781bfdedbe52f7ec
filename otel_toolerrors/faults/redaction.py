"""Secrets out of texts, before any text leaves this room.

Three layers, each bounded in time: structures that only carry secrets (private
keys, URLs with credentials, authorization schemes, signed tokens), values that
a telling name is assigned to, and runs of characters that only a generator of
secrets writes. Numbers, UUIDs, plain hashes and public identifiers stay: they
are what an error is about.
"""

from __future__ import annotations

import re
from typing import Final

from .memo import Memo

LIMIT: Final = 1_000
"""Default length of a redacted text, in characters."""

MARK: Final = "<redacted>"
_OPENED: Final = MARK[:-1]
_CUT: Final = " …[cut]… "
_MARGIN: Final = 4_000  # looked at beyond the limit, so that a secret across the cut is whole when it is judged

_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,20}-----.{0,12000}?(?:-----END [A-Z0-9 ]{0,60}-----|\Z)",
    re.DOTALL,
)
_USERINFO: Final = re.compile(
    r"(\b[a-zA-Z][a-zA-Z0-9+.\-]{1,30}://)(?:[^\s/@:'\"<>]{0,200}:[^\s@'\"<>]{1,400}|[^\s/@:'\"<>]{16,200})@"
)
_SCHEME: Final = re.compile(
    r"\b((?:bearer|basic|digest|negotiate|apikey|token|aws4-hmac-sha256)\s{1,4})(?=[^\s]{0,200}[\d=+/_\-])[A-Za-z0-9._~+/\-]{8,4000}={0,2}",
    re.IGNORECASE,
)
_SCHEMES: Final = ("bearer", "basic", "digest", "negotiate", "apikey", "token", "hmac")
_NAMES: Final = ("key", "token", "secret", "pass", "pwd", "cred", "authori", "signature", "jwt", "string")
"""What a text must contain for a scheme, or a named value, to be in it."""

_CRYPT: Final = re.compile(r"\$[0-9a-z][0-9a-z\-]{0,15}\$[^\s\"'<>,;]{16,8000}")
"""The modular crypt format of password hashes, in which Kerberos tickets are written as well."""

_HANDED: Final = re.compile(
    r"((?<![A-Za-z])(?:[A-Za-z0-9]{1,30}[_.\-]){0,3}[A-Za-z]{0,30}?(?:key|token|secret|password|login|auth|crumb)"
    r"(?:[\"']\s{0,4},\s{0,4}|[\"']?\s{0,4}[=:]\s{0,4})[\"']{0,2})[0-9a-f]{32,128}(?![0-9a-z])",
    re.IGNORECASE,
)
"""A plain hash says nothing by itself; handed over beside a name for what lets one in, it is a key."""

_SIGNED: Final = re.compile(r"\beyJ[A-Za-z0-9_\-]{8,4000}(?:\.[A-Za-z0-9_\-]{4,8000}){1,4}")
_COOKIE: Final = re.compile(r"\b((?:set-)?cookie[\"']?\s{0,4}[:=]\s{0,4})[^\r\n'\"}]{4,4000}", re.IGNORECASE)

_QUALIFIER: Final = (
    r"(?:(?:api|access|secret|private|client|auth|account|shared|signing|encryption|master|session|refresh|bearer|deploy|webhook|bot|app(?:lication)?"
    r"|subscription|consumer|service|license|storage|security|admin|root|db|database|user)[ _.\-]?)?"
)
_NAME: Final = (
    r"(?:(?:key|token|secret|credential|cred)s?|pass(?:word|wd|phrase|code)|(?<=_)pass|pwd|authorization"
    r"|signature|jwt|connection[ _]?string)"
    r"(?:[_.\-]?(?:id|value|hash|base64|b64))?(?![A-Za-z])[\"'>\]]{0,2}"
    r"(?:\s{0,20}(?:=>|:=|[!=]=|[=:]|\bis\b)\s{0,20}(?:[brf](?=[\"']))?|\s{1,4}(?=[\"']))"
)
"""A telling name and what assigns a value to it."""

_NAMED: Final = re.compile(_NAME)  # in lower case
_ASSIGNED: Final = re.compile(
    rf"((?<![A-Za-z])[\"'<]?(?:[A-Za-z0-9]{{1,30}}[_.\-]){{0,5}}(?:[a-z]{{1,30}}(?=[A-Z]))?{_QUALIFIER}{_NAME})"
    r"(\"[^\"\n]{1,2000}\"|'[^'\n]{1,2000}'|(?![\[({<$]|\w{1,60}:(?:\s|$))[^\s,;&\"'<>{}()\[\]]{3,2000})",
    re.IGNORECASE,
)
_PUBLIC_VALUES: Final = re.compile(
    r"[\"']?(?:none|null|true|false|undefined|missing|required|invalid|expired|not|is|was|has|the|an?|\*+|x+|\d{1,5}|[0\-]+|\\\$\w+|(?:process\.)?env\.\w+|<redacted.*|https?://.*|error|must|should|expected|unknown|string|str|int|bytes)[\"'.]?",
    re.IGNORECASE,
)

_FLAG: Final = re.compile(
    r"((?<!\S)--?(?:[a-z]{1,20}-){0,3}(?:key|token|secret|password|credentials?)\s{1,4})[^\s\"'<>-][^\s\"'<>]{3,2000}",
    re.IGNORECASE,
)
_WEBHOOK: Final = re.compile(
    r"(https?://[^\s/\"'<>]{1,200}/(?:[^\s/\"'<>]{1,60}/){0,3}?(?:hooks?|webhooks?|services)/)[^\s\"'<>]{8,2000}",
    re.IGNORECASE,
)
_PROSE: Final = re.compile(r"[^=:>]\s+(?:is\s+)?$", re.IGNORECASE)
_SHORTEST_RUN: Final = 15
_RUN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9_\-+/.~]{14,600}={0,2}")
_VENDOR: Final = re.compile(
    r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGE-SECRET-KEY-|NRAK-|AIza|ya29\.|GOCSPX-|AKC|AP[\dA-F](?=[A-Za-z0-9]{8})|SG\.|xox[a-z]-|EAAC|dapi|glpat-|gl[a-z]{2,5}-|whsec_|pypi-|npm_|hf_|sk-|sk_|pk_|rk_|GR1348941"
    r"|[0-9a-f]{32}-us\d|[A-Za-z0-9]{76}AZDO)"
)
_PUBLIC_PREFIX: Final = re.compile(
    r"(?:req|request|run|call|toolu|msg|message|trace|span|task|batch|file|thread|step|evt|event|resp|chatcmpl|gen|op|job|asst)[_\-]",
    re.IGNORECASE,
)
_LONG_HEX: Final = re.compile(r"[0-9a-f]{32}")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_HEX: Final = re.compile(r"(?:sha\d{1,3}[\-:])?[0-9a-f]+|[0-9A-F]+")
_PREFIXED_HEX: Final = re.compile(r"[A-Za-z]{2,12}[_\-](?:[a-z0-9]{1,12}[_\-])?[0-9a-f]{24,}")
_TURNS: Final = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[a-z])")


clean: Final = Memo[tuple[str, int], str](1_024)
"""Texts without a secret, and how they read on one line."""


def redact(text: str, limit: int = LIMIT) -> str:
    """The text on one line, without secrets and control characters, cut to ``limit`` characters with a visible mark."""
    known = clean.get((text, limit))
    if known is not None:
        return known
    told = _redacted(text, limit)
    return told if len(text) > limit or _OPENED in told else clean.keep((text, limit), told)


def may_be_kept(text: str) -> bool:
    """Whether a text is short and without secrets, so that it may stay in memory; a cut may hide a secret's mark."""
    return len(text) <= LIMIT and _OPENED not in redact(text)


def _redacted(text: str, limit: int) -> str:
    text = " ".join(_without_secrets(_window(text, limit)).split())
    if not text.isprintable():
        text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return _cut(text, limit)


def _without_secrets(text: str) -> str:
    if "-----BEGIN" in text:
        text = _PRIVATE_KEY.sub(f"{_OPENED} private key>", text)
    if "://" in text:
        text = _USERINFO.sub(rf"\1{MARK}@", text)
        text = _WEBHOOK.sub(rf"\1{MARK}", text)
    if "ookie" in text:
        text = _COOKIE.sub(rf"\1{MARK}", text)
    if "$" in text:
        text = _CRYPT.sub(MARK, text)
    lower = text.lower()
    if _LONG_HEX.search(lower) is not None:
        text = _HANDED.sub(rf"\1{MARK}", text)
    if _contains(lower, _SCHEMES):
        text = _SCHEME.sub(rf"\1{MARK}", text)
    if "eyJ" in text:
        text = _SIGNED.sub(MARK, text)
    if _contains(lower, _NAMES):
        text = _FLAG.sub(rf"\1{MARK}", text)
        if _NAMED.search(lower) is not None:  # without the costly way to the name's beginning
            text = _ASSIGNED.sub(_assignment, text)
    return _RUN.sub(_run, text) if max(map(len, text.split()), default=0) >= _SHORTEST_RUN else text


def _contains(text: str, parts: tuple[str, ...]) -> bool:
    for part in parts:  # noqa: SIM110 - a generator costs twice as much, and this runs for every error
        if part in text:
            return True
    return False


def _assignment(match: re.Match[str]) -> str:
    before, value = match[1], match[2]
    public = _PUBLIC_VALUES.fullmatch(value) is not None
    if _PROSE.search(before):  # prose, as in "the token is …": only what looks like a secret is one
        quoted = value[0] in "\"'" and " " not in value and "pass" in before.lower()
        public = public or not (quoted or (len(value) >= 8 and any(char.isdigit() for char in value)))
    if value.isdecimal() and "token" in before.lower():
        public = True  # a count
    return match.group() if public or "nexpected" in before else f"{before}{MARK}"


def _run(match: re.Match[str]) -> str:
    run = match.group()
    if _VENDOR.match(run) and any(char.isdigit() or char.isupper() for char in run[3:]):
        return MARK
    if "/" in run and not run.endswith("="):  # a path or an address: its parts are judged
        return "/".join(MARK if _generated(part) else part for part in run.split("/"))
    return MARK if _generated(run) else run


def _generated(run: str) -> bool:
    """Whether only a generator writes such a run: long, and turning between cases and digits all the time."""
    if len(run) < 16 or _UUID.fullmatch(run) or _HEX.fullmatch(run) or _PUBLIC_PREFIX.match(run):
        return False
    if _PREFIXED_HEX.fullmatch(run):
        return True
    turns = len(_TURNS.findall(run))
    digits = sum(char.isdigit() for char in run)
    return digits >= 2 and turns * 4 >= len(run) and digits * 2 < len(run) + 8


def _window(text: str, limit: int) -> str:
    window = limit + _MARGIN
    return text if len(text) <= 2 * window else text[:window] + _CUT + text[-window:]


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    room = limit - len(_CUT)
    if room < len(_CUT):
        return text[:limit]
    head = room * 2 // 3
    return text[:head] + _CUT + text[len(text) - (room - head) :]
