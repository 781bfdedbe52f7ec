"""What a server says in the body of its answer: codes, a message, a wait."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from otel_toolerrors.faults.reading import http_status, instance_dict, items, whole_number, word

_CODE_KEYS = (
    "code",
    "type",
    "error_code",
    "errorCode",
    "errorcode",
    "error_type",
    "errorType",
    "status",
    "reason",
    "error",
    "__type",
    "codeName",
    "faultcode",
    "Code",
    "errcode",
    "kind",
    "name",
    "sqlState",
    "exception",
    "errorName",
    "subcode",
    "error_subtype",
    "decline_code",
    "result",
    "Status",
)
_STATUS_KEYS = ("status", "statusCode", "status_code", "code", "http_status", "httpStatus", "Code")
_INSIDE_KEYS = (
    "error",
    "errors",
    "Error",
    "Errors",
    "fault",
    "Fault",
    "detail",
    "details",
    "extensions",
    "err",
    "exception",
    "innererror",
    "innerError",
    "root_cause",
    "cause",
    "Reason",
    "meta",
    "status",
    "Failed",
)
_MESSAGE_KEYS = (
    "message",
    "msg",
    "error_description",
    "Message",
    "errorMessage",
    "error_message",
    "detail",
    "description",
    "title",
    "reason",
    "faultstring",
    "error",
    "text",
    "errmsg",
)
_WAIT_KEYS = ("retry_after", "retryAfter", "retry_after_seconds", "retryAfterSeconds", "RetryAfterSeconds")
_LOADED_NAMES = ("_content", "content", "_body", "body", "_text", "text", "data", "json_body", "_data")

_MAX_BODY = 65_536
_DEPTH = 4


@dataclass(slots=True)
class Said:
    """What was found in a body."""

    codes: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    status: int | None = None
    message: str = ""
    retry_after: object = None

    @property
    def anything(self) -> bool:
        """Whether there was anything to find."""
        return bool(self.codes or self.message or self.numbers)


def loaded_body(response: object) -> object:
    """The body of a response that has been read already; never triggers a read."""
    own = instance_dict(response)
    for name in _LOADED_NAMES:
        value = own.get(name)
        if value and isinstance(value, (bytes, str, dict, list)):
            return value
    return None


def parse(body: object) -> object:
    """JSON texts as objects; anything else as it is."""
    if isinstance(body, (bytes, str)):
        if not body or len(body) > _MAX_BODY:
            return None
        first = body[:1]
        if first not in (b"{", b"[", "{", "["):
            return None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return None
    return body


def said(body: object) -> Said:
    """Everything an error body says, wherever in it that stands."""
    found = Said()
    _collect(parse(body), found, _DEPTH)
    return found


def _collect(value: object, found: Said, depth: int) -> None:
    if depth == 0:
        return
    if isinstance(value, (list, tuple)):
        for entry in value[:4]:
            _collect(entry, found, depth - 1)
        return
    if not isinstance(value, dict) and not hasattr(type(value), "items"):
        return
    fields = {key: entry for key, entry in items(value) if type(key) is str}
    for key in _INSIDE_KEYS:
        inside = fields.get(key)
        if isinstance(inside, (dict, list)) and inside:
            _collect(inside, found, depth - 1)
    _read_codes(fields, found)
    for key in _WAIT_KEYS:
        if found.retry_after is None and fields.get(key) is not None:
            found.retry_after = fields[key]
    if not found.message:
        found.message = next((m for key in _MESSAGE_KEYS if isinstance(m := fields.get(key), str) and m), "")


def _read_codes(fields: dict[str, Any], found: Said) -> None:
    for key in _CODE_KEYS:
        value = fields.get(key)
        if value is None:
            continue
        number = whole_number(value)
        if number is not None:
            found.numbers.append(number)
        elif (name := word(value)) and (code := as_code(name)):
            found.codes.append(code)
    if found.status is None:
        found.status = next((s for key in _STATUS_KEYS if (s := http_status(fields.get(key))) and s >= 300), None)


def as_code(name: str) -> str | None:
    """The part of a string that is an error code; None if it is prose."""
    name = name.strip()
    if "://" in name:
        name = name.rstrip("/").rpartition("/")[2]
    name = name.rpartition("#")[2]
    if not name or " " in name or (not name[0].isalpha() and not name.startswith("_")):
        return None
    return (
        name
        if name.replace("_", "").replace("-", "").replace(".", "").replace(":", "").replace("/", "").isalnum()
        else None
    )
