"""Error codes that are numbers.

A number means something only in its own protocol, so the names of the class say
first which one it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolerrors.faults.evidence import Evidence, Hit
from otel_toolerrors.faults.reading import attribute, whole_number
from otel_toolerrors.faults.rules import RuleSet

from .body import Said

_JSONRPC = range(-32_900, -31_999)
_EXIT_NAMES = ("returncode", "exit_code", "exit_status")


def said_hits(said: Said | None, rules: RuleSet) -> Iterator[Hit]:
    """JSON-RPC codes in a body."""
    for number in said.numbers if said is not None else ():
        if number in _JSONRPC and (rule := rules.number("jsonrpc", number)) is not None:
            yield Hit("code", str(number), rule, "certain")


def hits(evidence: Evidence, said: Said | None, rules: RuleSet) -> Iterator[Hit]:
    """The rules for every number that the exception carries."""
    yield from said_hits(said, rules)
    attrs = evidence.attrs
    code = whole_number(attrs.get("code"))
    if code is None and (error := attrs.get("error")) is not None:
        code = whole_number(attribute(error, "code"))  # MCP keeps its error object
    if code is not None and code in _JSONRPC:
        yield from _hit("jsonrpc", code, rules)
    for kind in evidence.profile.speaks:
        number = _READERS[kind](evidence, code)
        if number is not None:
            yield from _hit(kind, number, rules)
    exit_status = next((n for name in _EXIT_NAMES if (n := whole_number(attrs.get(name))) is not None), None)
    if exit_status:
        yield from _hit("curl" if _ran_curl(evidence) else "exit", exit_status, rules)


def _hit(kind: str, number: int, rules: RuleSet) -> Iterator[Hit]:
    if (rule := rules.number(kind, number)) is not None:
        certain = kind != "exit"
        yield Hit("code", f"{kind} {number}", rule, "certain" if certain else "strong")


def _first_argument(evidence: Evidence) -> int | None:
    args = evidence.args
    return whole_number(args[0]) if args else None


def _reply(evidence: Evidence, code: int | None) -> int | None:
    """SMTP and FTP: an attribute, the first argument, or the beginning of the text."""
    attrs = evidence.attrs
    found = whole_number(attrs.get("smtp_code"))
    recipients = attrs.get("recipients")
    if found is None and isinstance(recipients, dict):
        replies = [whole_number(r[0]) for r in list(recipients.values())[:20] if isinstance(r, tuple) and r]
        found = max((r for r in replies if r is not None), default=None)
    if found is None:
        found = code if code is not None else _first_argument(evidence)
    if found is None and evidence.text[:3].isdecimal():
        found = int(evidence.text[:3])
    return found if found is not None and 400 <= found <= 599 else None


def _close(evidence: Evidence, code: int | None) -> int | None:
    received = evidence.attrs.get("rcvd")
    found = whole_number(attribute(received, "code")) if received is not None else code
    return found if found is not None and 1_000 <= found <= 4_999 else None


def _curl(evidence: Evidence, code: int | None) -> int | None:
    found = code if code is not None else _first_argument(evidence)
    return found if found is not None and 1 <= found <= 99 else None


def _mysql(evidence: Evidence, code: int | None) -> int | None:
    del code
    found = _first_argument(evidence)
    if found is None:
        found = whole_number(evidence.attrs.get("errno"))
    return found if found is not None and 1_000 <= found <= 4_999 else None


_READERS = {"reply": _reply, "close": _close, "curl": _curl, "mysql": _mysql}


def _ran_curl(evidence: Evidence) -> bool:
    command = evidence.attrs.get("cmd")
    program = command[0] if isinstance(command, (list, tuple)) and command else command
    return isinstance(program, str) and program.split(" ")[0].rpartition("/")[2] == "curl"
