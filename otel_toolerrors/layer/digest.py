"""Keyed digests: they tell equal from different without telling what."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def _plain(value: Any) -> str:
    return f"{type(value).__qualname__}:{value!r}"


_write = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_plain).encode


def digest(key: bytes, *parts: Any) -> str:
    """Give 16 hex digits for ``parts``; without the key nobody can guess their content."""
    text = _write(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, key=key, digest_size=8).hexdigest()


def safe_digest(key: bytes, *parts: Any) -> str:
    """Give a digest also of what JSON cannot hold: cycles, keys that do not sort, a ``__repr__`` that raises."""
    try:
        return digest(key, *parts)
    except Exception:  # noqa: BLE001 - arguments are a model's and may be anything
        return digest(key, [type(part).__qualname__ for part in parts])
