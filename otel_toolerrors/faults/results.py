"""Errors that come back as values instead of being raised.

A value is an error only if it says so in one of a handful of shapes that
protocols use for errors and for nothing else. A value that merely speaks of
errors (a log, a document, a ticket) is a success.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from otel_toolerrors.vocabulary import Effects

from .classify import classify, to_fault
from .fault import Fault
from .opinion import Walk, of_parts
from .reading import MAX_TEXT, attribute, http_status, instance_dict, is_exception, text, whole_number
from .rules import Rule, RuleSet, rule_set
from .signals import body, headers

_FAILED: Final = frozenset({"error", "failed", "failure", "fail", "errored"})
_LISTS: Final = ("Errors", "errors", "Failed", "FailedEntries", "UnprocessedItems")
_MAX_JSON: Final = 65_536
_PREFIXES: Final = (
    "Error:",
    "error:",
    "ERROR:",
    "Error executing tool",
    "Error calling tool",
    "Traceback (most recent call last)",
)


def classify_result(
    value: object, *, effects: Effects = "read", rules: RuleSet | Sequence[Rule] | None = None, now: float | None = None
) -> Fault | None:
    """The fault that a returned value reports; None if the value is no error. Never raises.

    Recognised: MCP results with ``isError``, tool messages with status
    ``error``, ``{"error": …}``, ``{"ok": false}``, ``{"success": false}``,
    ``{"status": "error"}``, JSON-RPC and GraphQL errors, batch results with a
    list of errors, status codes of 400 and more, unchecked HTTP responses,
    finished processes with an exit status, ``(result, error)`` pairs, strings
    that begin with ``Error:``, and all of that as JSON text. Whether a tool's
    results may be read this way is for its author to say: call this only
    for tools that report errors so.
    """
    if is_exception(value):
        return classify(value, effects=effects, rules=rules, now=now)  # type: ignore[arg-type]
    found = _error_in(value)
    if found is None:
        return None
    walk = Walk(rule_set(rules), headers.wall_clock() if now is None else now)
    said = body.said(found.body) if found.body is not None else None
    opinion = of_parts(
        said=said,
        text=found.text,
        http_status=found.http_status,
        found=found.headers,
        exit_status=found.exit_status,
        walk=walk,
    )
    return to_fault(opinion, None, effects)


class Reported:
    """What a value says about its error, in the form the signals read."""

    __slots__ = ("body", "exit_status", "headers", "http_status", "text", "values")

    def __init__(
        self,
        *,
        body: object = None,
        text: str = "",
        http_status: int | None = None,
        headers: dict[str, str] | None = None,
        exit_status: int | None = None,
    ) -> None:
        """Keep the parts that were found."""
        self.body = body
        self.text = text
        self.http_status = http_status
        self.headers = headers or {}
        self.exit_status = exit_status


def _error_in(value: object) -> Reported | None:
    for reader in _READERS:
        found = reader(value)
        if found is not None:
            return found
    return None


def _from_mapping(value: object) -> Reported | None:
    if not isinstance(value, dict):
        return None
    if value.get("isError") is True or value.get("is_error") is True:
        return Reported(body=value.get("structuredContent"), text=_content_text(value.get("content")))
    error = value.get("error")
    errors = next((value[name] for name in _LISTS if isinstance(value.get(name), list) and value[name]), None)
    data = value.get("data")
    if errors is not None and not isinstance(errors[0], (dict, str)):
        errors = None
    status = next(
        (s for name in ("statusCode", "status_code", "status") if (s := http_status(value.get(name))) and s >= 400),
        None,
    )
    said = value.get("status")
    failed = (
        (isinstance(error, (str, dict, list)) and bool(error))
        or error is True
        or (
            errors is not None
            and not (
                isinstance(data, (dict, list))
                and data
                and all(v for v in (data.values() if isinstance(data, dict) else data))
            )
        )
        or value.get("ok") is False
        or value.get("success") is False
        or (isinstance(said, str) and said.lower() in _FAILED)
        or (
            status is not None
            and ("body" in value or "message" in value or "error" in value or "detail" in value or "title" in value)
        )
    )
    if not failed:
        return None
    found = body.said(value)
    content = _content_text(value.get("content")) if "content" in value else ""
    words = content or next((v for v in (error, value.get("message"), found.message) if isinstance(v, str) and v), "")
    return Reported(body=value, text=words or found.message, http_status=status)


def _from_json(value: object) -> Reported | None:
    if not isinstance(value, str) or len(value) > _MAX_JSON or not value.lstrip().startswith("{"):
        return None
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return _from_mapping(parsed)


def _from_text(value: object) -> Reported | None:
    if not isinstance(value, str) or not value.startswith(_PREFIXES):
        return None
    return Reported(text=value.partition(":")[2].strip()[:MAX_TEXT] or value[:MAX_TEXT])


def _from_pair(value: object) -> Reported | None:
    if not isinstance(value, tuple) or len(value) != 2 or value[0] is not None or not value[1]:
        return None
    error = value[1]
    return Reported(text=error) if isinstance(error, str) else _from_mapping(error)


def _from_message(value: object) -> Reported | None:
    """MCP results and the tool messages of frameworks."""
    flagged = any(attribute(value, name) is True for name in ("isError", "is_error"))
    said = attribute(value, "status")
    failed = isinstance(said, str) and said in _FAILED and attribute(value, "content") is not None
    if not flagged and not failed:
        return None
    content = attribute(value, "content")
    structured = attribute(value, "structuredContent") or attribute(value, "structured_content")
    return Reported(body=structured if isinstance(structured, dict) else None, text=_content_text(content))


def _from_process(value: object) -> Reported | None:
    status = whole_number(instance_dict(value).get("returncode"))
    if not status:
        return None
    stderr = attribute(value, "stderr") or attribute(value, "stdout") or ""
    said = (
        stderr
        if isinstance(stderr, str)
        else text(bytes(stderr[-2_000:]).decode("utf-8", "replace"))
        if isinstance(stderr, bytes)
        else ""
    )
    return Reported(text=said[-2_000:], exit_status=status)


def _from_response(value: object) -> Reported | None:
    """An HTTP response that nobody checked."""
    if isinstance(value, (dict, str, bytes, list, tuple)) or (found := attribute(value, "headers")) is None:
        return None
    status = next((s for name in ("status_code", "status") if (s := http_status(attribute(value, name)))), None)
    if status is None or status < 400:
        return None
    said: dict[str, str] = {}
    headers.collect(found, said)
    content = body.loaded_body(value)
    return Reported(body=content, text=body.said(content).message, http_status=status, headers=said)


def _content_text(content: Any) -> str:
    """The text of a list of content blocks, or of a plain string."""
    if isinstance(content, str):
        return content[:MAX_TEXT]
    parts = []
    for block in content[:8] if isinstance(content, (list, tuple)) else ():
        part = (
            block.get("text")
            if isinstance(block, dict)
            else block
            if isinstance(block, str)
            else attribute(block, "text")
        )
        if isinstance(part, str):
            parts.append(part[:MAX_TEXT])
    return "\n".join(parts)


_READERS: tuple[Callable[[object], Reported | None], ...] = (
    _from_mapping, _from_json, _from_text, _from_pair, _from_response, _from_message, _from_process,
)  # fmt: skip
