"""What the operating system says: ``errno`` and its relatives."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from typing import Final

from otel_toolerrors.faults.evidence import Evidence, Hit
from otel_toolerrors.faults.reading import whole_number
from otel_toolerrors.faults.rules import RuleSet

_RESOLVER: Final = {value: name for name, value in vars(socket).items() if name.startswith("EAI_")}


def hits(evidence: Evidence, rules: RuleSet) -> Iterator[Hit]:
    """The rule for the exception's errno."""
    number = whole_number(evidence.attrs.get("errno"))
    if number is None:
        return
    if issubclass(evidence.kind, socket.gaierror):
        name = _RESOLVER.get(number, "EAI_AGAIN")
    elif " ssl error " in evidence.profile.words:
        return  # OpenSSL's own numbering
    elif issubclass(evidence.kind, OSError) or evidence.attrs.get("strerror") == _strerror(number):
        name = errno.errorcode.get(number, "")
    else:
        return  # somebody else's numbering
    if (rule := rules.errno.get(name)) is not None:
        yield Hit("errno", name, rule, "certain")


def _strerror(number: int) -> str | None:
    try:
        return os.strerror(number)
    except (OverflowError, ValueError):
        return None
