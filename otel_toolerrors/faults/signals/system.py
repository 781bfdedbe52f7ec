"""What the operating system says: ``errno`` and its relatives."""

from __future__ import annotations

import errno as errno_module
import socket
from collections.abc import Iterator

from ..evidence import Evidence, Hit
from ..reading import whole_number
from ..rules import RuleSet

_RESOLVER = {value: name for name, value in vars(socket).items() if name.startswith("EAI_")}


def hits(evidence: Evidence, rules: RuleSet) -> Iterator[Hit]:
    """The rule for the exception's errno."""
    if not issubclass(evidence.kind, OSError):
        return
    number = whole_number(evidence.attrs.get("errno"))
    if number is None:
        return
    if issubclass(evidence.kind, socket.gaierror):
        name = _RESOLVER.get(number, "EAI_AGAIN")
    elif evidence.profile.names and any(name == "SSLError" for _, name in evidence.profile.names):
        return  # OpenSSL's own numbering
    else:
        name = errno_module.errorcode.get(number, "")
    if (rule := rules.errno.get(name)) is not None:
        yield Hit("errno", name, rule, "certain")
