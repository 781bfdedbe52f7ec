"""Error codes that are words: a service's, a protocol's, a library's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from otel_toolerrors.faults.evidence import CODE, CODE_NAMES, SQLSTATE_NAMES, Evidence, Hit
from otel_toolerrors.faults.reading import attribute, call, word
from otel_toolerrors.faults.rules import RuleSet

from .body import Said, as_code

_SQLSTATE: Final = re.compile(r"(?=.*\d)[0-9A-Z]{5}")
_LEADING_CODE: Final = re.compile(r"\s*(?:\w{1,10}: )?\[?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\]?(?=[ :\-]|$)")
_SHOUTED: Final = re.compile(
    r"\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b|\b[A-Z][a-z]\w{2,60}(?:Exception|Error|Fault)\b"
)
_NO_CODES: Final = frozenset({
    "API", "DELETE", "ERR", "ERROR", "FAILED", "FATAL", "GET", "HTTP", "HTTPS", "INFO", "JSON", "POST", "PUT", "SQL",
    "SSL", "THE", "TLS", "URL", "WARN", "WARNING",
})  # fmt: skip
_SHOUTING: Final = re.compile(r"_|Exception|Error|Fault")
"""What a text must contain for such a word to be in it."""

_CODE_PLACES: Final = {name: place for place, name in enumerate(CODE_NAMES)}
_TOKENS: Final = 4
_PARTNERS: Final = {"code": "details", "name": "code"}
"""gRPC: ``code()`` beside ``details()``; librdkafka: ``name()`` beside ``code()``."""


def said_hits(said: Said | None, rules: RuleSet) -> Iterator[Hit]:
    """The codes of a body that a rule knows."""
    if said is not None:
        for code in dict.fromkeys(said.codes):
            if (rule := rules.code(code)) is not None:
                yield Hit("code", code, rule, "strong")


def hits(evidence: Evidence, said: Said | None, rules: RuleSet) -> Iterator[Hit]:
    """Every code on the exception, or in what the server said, that a rule knows."""
    yield from said_hits(said, rules)
    attrs = evidence.attrs
    if evidence.has(CODE) or _error_objects(evidence.args):
        for code in dict.fromkeys(_words(evidence)):
            if (rule := rules.code(code)) is not None:
                yield Hit("code", code, rule, "strong")
        for name in SQLSTATE_NAMES:
            if type(state := attrs.get(name)) is str and (rule := rules.state(state)) is not None:
                yield Hit("code", state, rule, "certain")
    args = evidence.args
    if len(args) > 1 and type(args[1]) is str:
        if type(args[0]) is str and (rule := rules.state(args[0])) is not None:  # ODBC: (SQLSTATE, text)
            yield Hit("code", args[0], rule, "certain")
        elif type(args[0]) is int and (first := leading_code(args[1])) and (rule := rules.code(first)) is not None:
            yield Hit("code", first, rule, "strong")  # AMQP: (reply code, "NOT_FOUND - text")


def leading_code(text: str) -> str | None:
    """The upper-case word that a text begins with, as Redis, AMQP and Node.js write their codes."""
    match = _LEADING_CODE.match(text[:100])
    if match is None or len(match[1]) < 3 or match[1] in _NO_CODES:
        return None
    return match[1]


def spoken(text: str) -> Iterator[str]:
    """Words of a text that can only be codes: ``SYNTAX_ERROR``, ``ThrottlingException``."""
    if (leading := leading_code(text)) is not None:
        yield leading
    if _SHOUTING.search(text) is None:
        return
    for number, match in enumerate(_SHOUTED.finditer(text)):
        if number >= _TOKENS:
            return
        yield match.group()


def _words(evidence: Evidence) -> Iterator[str]:
    attrs = evidence.attrs
    for name in sorted(attrs.keys() & _CODE_PLACES.keys(), key=_CODE_PLACES.__getitem__):
        value = attrs[name]
        if callable(value):
            partner = _PARTNERS.get(name)  # methods are called only where a known pair of them stands together
            value = call(value) if partner is not None and callable(attrs.get(partner)) else None
        said = word(value)
        if said is None:
            continue
        if _SQLSTATE.fullmatch(said):
            yield said
        elif (code := as_code(said)) is not None and (name != "name" or said.isupper()):
            yield code
    response = attrs.get("response")
    error = response.get("Error") if isinstance(response, dict) else None
    code = error.get("Code") if isinstance(error, dict) else None
    if type(code) is str and (found := as_code(code)):
        yield found
    for argument in evidence.args[:1]:
        yield from _error_object(argument)


def _error_objects(args: tuple[Any, ...]) -> bool:
    return bool(args) and type(args[0]) is not str and "Error" in type(args[0]).__name__


def _error_object(argument: Any) -> Iterator[str]:
    """Codes of an error object that is no exception, as librdkafka's binding hands out."""
    if (
        isinstance(argument, (str, bytes, int, float, dict, list, tuple, BaseException))
        or "Error" not in type(argument).__name__
    ):
        return
    for name in ("name", "code"):
        value = attribute(argument, name)
        said = word(call(value) if callable(value) else value)
        if said is not None and (code := as_code(said)):
            yield code
