"""Making foreign text harmless: an error message is untrusted input to the model and to the terminal."""

from __future__ import annotations

import re
import unicodedata

_MARK = " … [cut]"
_LOOK_ALIKES = str.maketrans("<>`[]", "\u2039\u203a\u02cb\u27e6\u27e7")
"""What delimits tags, code fences and our own section headings, replaced by what merely looks like it."""
_ROLE = re.compile(r"\b(system|assistant|user|human|developer|tool)\s*:", re.IGNORECASE)


def neutralise(text: str, limit: int) -> str:
    """Give ``text`` on one line, without control characters, markup or role markers, cut visibly at ``limit``.

    The words stay: the model must be able to read what went wrong. What goes is
    the means to pass for something other than an error message.
    """
    flat = " ".join("".join(map(_printable, text[: 4 * limit])).split())
    flat = _ROLE.sub(r"\1 -", flat.translate(_LOOK_ALIKES))
    if not flat:
        return "(no message)"
    if len(flat) <= limit and len(text) <= 4 * limit:
        return flat
    return flat[: limit - len(_MARK)] + _MARK


def _printable(char: str) -> str:
    # Cc, Cf: control and invisible format characters (escapes, bidi overrides, zero width). Cs, Co: no characters.
    return " " if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else char
