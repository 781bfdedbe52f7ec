"""The HTTP status behind an error."""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolerrors.faults.evidence import STATUS_NAMES, Evidence, Hit
from otel_toolerrors.faults.reading import attribute, http_status, whole_number
from otel_toolerrors.faults.rules import RuleSet

_RESPONSE_STATUS = ("status_code", "status", "http_status", "code", "status_int")
_OTHER_PROTOCOLS = (
    "smtp",
    "ftp",
    "nntp",
    "rpc",
    "websocket",
    "web socket",
    "ldap",
    "sql",
    "mongo",
    "kafka",
    "exit",
    "process",
    "amqp",
    "pop3",
    "imap",
)


def read_status(evidence: Evidence) -> int | None:
    """The status on the exception itself, or on its response; 1xx never ends a request."""
    attrs = evidence.attrs
    for name in STATUS_NAMES:
        if (value := attrs.get(name)) is not None and (status := _status(value)) is not None:
            return status
    for response in evidence.responses():
        if isinstance(response, dict):
            metadata = response.get("ResponseMetadata")
            status = (
                _status(metadata.get("HTTPStatusCode"))
                if isinstance(metadata, dict)
                else _status(response.get("status"))
            )
            if status is not None:
                return status
            continue
        for name in _RESPONSE_STATUS:
            if (status := _status(attribute(response, name))) is not None:
                return status
    code = whole_number(attrs.get("code"))
    if code is not None and 300 <= code <= 599 and not speaks_another_protocol(evidence):
        return code
    return None


def speaks_another_protocol(evidence: Evidence) -> bool:
    """Whether the class's names say that a number in ``.code`` is no HTTP status."""
    return any(other in evidence.profile.words for other in _OTHER_PROTOCOLS)


def hits(status: int | None, rules: RuleSet) -> Iterator[Hit]:
    """The rule for the status."""
    if status is not None and (rule := rules.number("status", status)) is not None:
        yield Hit("status", str(status), rule, "certain")


def _status(value: object) -> int | None:
    status = http_status(value)
    return status if status is not None and status >= 200 else None
