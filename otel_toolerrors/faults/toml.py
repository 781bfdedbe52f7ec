"""TOML from outside: what cannot be read is one kind of error, however the parser failed over it."""

from __future__ import annotations

import tomllib
from typing import Any


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises:
        ValueError: It is not TOML, or nested too deeply, or holds a number of thousands of digits.
    """
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
