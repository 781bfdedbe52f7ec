"""Grouping errors that differ only in ids, numbers, paths and hashes."""

from __future__ import annotations

import functools
import hashlib
import re

_WINDOW = 500

# One pass, longest things first. Each is replaced by a mark that says what stood there.
# They are for lower case, which is faster than ignoring it, and look ahead at a
# word's start, which saves four tries at words that are only words.
_MASKS = re.compile(
    r"\b(?=[a-z_.+\-]{0,64}+[\d:@])(?:"
    r"(?P<url>[a-z][a-z0-9+.\-]{1,15}://[^\s'\"<>)\]]+)"
    r"|(?P<email>[\w.+\-]{1,64}@[\w\-]{1,64}(?:\.[\w\-]{1,64}){1,6})"
    r"|(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)"
    r"|(?P<id>(?=[a-z_\-]{0,64}+\d)[a-z0-9_]++(?:-[a-z0-9_]++)*+))"
    r"|(?P<quoted>'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`)"
    r"|(?P<path>(?<![\w<>])(?:[a-z]:)?(?:[/\\][\w.\-+@%~]+){2,}[/\\]?)"
    r"|(?P<redacted><redacted[^>]{0,40}>)",
    re.ASCII,
)
_VARIES = re.compile(r"[\d'\"`/\\@<]")
_PLAIN_NUMBER = re.compile(r"[\d_.\-]+")


def template(message: str) -> str:
    """The message with everything that varies from one occurrence to the next masked."""
    message = message[:_WINDOW].casefold()
    if _VARIES.search(message) is not None:
        message = _MASKS.sub(_mark, message)
    return " ".join(message.split())


def fingerprint(exception_type: str | None, code: str, message: str) -> str:
    """16 hex digits over type, code and message template; the same in every process and locale."""
    return digest(exception_type, code, message[:_WINDOW])


@functools.lru_cache(maxsize=1_024)
def digest(exception_type: str | None, code: str, message: str) -> str:
    """What `fingerprint` gives, remembered for the last thousand errors."""
    parts = "\x1f".join((exception_type or "", code, template(message)))
    return hashlib.blake2b(parts.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _mark(match: re.Match[str]) -> str:
    kind = match.lastgroup
    return "<n>" if kind == "id" and _PLAIN_NUMBER.fullmatch(match.group()) else f"<{kind}>"
