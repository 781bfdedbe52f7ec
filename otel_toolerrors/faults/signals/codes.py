"""Error codes: words and numbers that a protocol, a service or a library uses for its errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..evidence import CODE_NAMES, SQLSTATE_NAMES, Evidence, Hit
from ..fault import Strength
from ..reading import attribute, call, whole_number, word
from ..rules import RuleSet, phrase
from .body import Said, as_code

_SQLSTATE = re.compile(r"[0-9A-Z]{5}")
_LEADING_CODE = re.compile(r"\s*(?:\w{1,10}: )?\[?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\]?(?=[ :]|$)")
_NO_CODES = frozenset(
    {
        "GET",
        "POST",
        "PUT",
        "ERR",
        "ERROR",
        "HTTP",
        "SQL",
        "URL",
        "API",
        "JSON",
        "THE",
        "FATAL",
        "INFO",
        "WARN",
        "WARNING",
        "SSL",
        "TLS",
    }
)


def words(evidence: Evidence) -> Iterator[str]:
    """Code-like strings on the exception."""
    attrs = evidence.attrs
    for name in CODE_NAMES:
        value = attrs.get(name)
        if value is None:
            continue
        if callable(value) and name == "code":
            value = _grpc_code(evidence, value)
        said = word(value)
        if said is not None and (code := as_code(said)):
            yield code
    yield from _aws_codes(attrs.get("response"))


def said_hits(said: Said | None, rules: RuleSet) -> Iterator[Hit]:
    """The codes of a body that a rule knows."""
    if said is None:
        return
    for code in dict.fromkeys(said.codes):
        if (rule := rules.code(code)) is not None:
            yield Hit("code", code, rule, "strong")
    for number in said.numbers:
        if -32_900 <= number <= -32_000 and (rule := rules.number("jsonrpc", number)) is not None:
            yield Hit("code", str(number), rule, "certain")


def hits(evidence: Evidence, said: Said | None, rules: RuleSet) -> Iterator[Hit]:
    """Every code that a rule knows."""
    seen = set()
    for code in (*(said.codes if said is not None else ()), *words(evidence)):
        if code not in seen:
            seen.add(code)
            if (rule := rules.code(code)) is not None:
                yield Hit("code", code, rule, "strong")
    yield from _numbers(evidence, said, rules)
    for name in SQLSTATE_NAMES:
        if type(state := evidence.attrs.get(name)) is str and (found := sqlstate(state, rules, "certain")):
            yield found
    args = evidence.args
    if (
        len(args) > 1
        and type(args[0]) is str
        and type(args[1]) is str
        and (found := sqlstate(args[0], rules, "certain"))
    ):
        yield found  # ODBC: (SQLSTATE, text)


def sqlstate(state: str, rules: RuleSet, strength: Strength) -> Hit | None:
    """The rule for a SQLSTATE, or for its class."""
    if not _SQLSTATE.fullmatch(state):
        return None
    rule = rules.sqlstate.get(state) or rules.sqlstate.get(state[:2])
    return Hit("code", state, rule, strength) if rule is not None else None


def leading_code(text: str) -> str | None:
    """The upper-case word that a text begins with, as Redis and Node.js write their codes."""
    match = _LEADING_CODE.match(text[:100])
    if match is None or len(match[1]) < 3 or match[1] in _NO_CODES:
        return None
    return match[1]


def _numbers(evidence: Evidence, said: Said | None, rules: RuleSet) -> Iterator[Hit]:
    attrs = evidence.attrs
    code = whole_number(attrs.get("code"))
    if code is None and (error := attrs.get("error")) is not None and not isinstance(error, (str, dict)):
        code = whole_number(attribute(error, "code"))
    for number in (code, *(said.numbers if said is not None else ())):
        if (
            number is not None
            and -32_900 <= number <= -32_000
            and (rule := rules.number("jsonrpc", number)) is not None
        ):
            yield Hit("code", str(number), rule, "certain")
        if (
            number is not None
            and 1_000 <= number <= 4_999
            and _named(evidence, "websocket", "web socket", "connection closed")
            and (rule := rules.number("close", number))
        ):
            yield Hit("code", str(number), rule, "certain")
    reply = whole_number(attrs.get("smtp_code"))
    if reply is None and _named(evidence, "smtp", "ftp"):
        reply = code
    if (
        reply is None
        and _named(evidence, "error perm", "error temp", "error reply", "nntp")
        and evidence.text[:3].isdigit()
    ):
        reply = int(evidence.text[:3])
    if reply is not None and (rule := rules.number("reply", reply)) is not None:
        yield Hit("code", str(reply), rule, "certain")
    exit_status = next(
        (n for name in ("returncode", "exit_code", "exit_status") if (n := whole_number(attrs.get(name))) is not None),
        None,
    )
    if exit_status and (rule := rules.number("exit", exit_status)) is not None:
        yield Hit("code", f"exit {exit_status}", rule, "strong")
    received = attrs.get("rcvd")
    if (
        received is not None
        and (close := whole_number(attribute(received, "code"))) is not None
        and (rule := rules.number("close", close))
    ):
        yield Hit("code", str(close), rule, "certain")
    args = evidence.args
    if (
        args
        and type(args[0]) is int
        and 1_000 <= args[0] <= 9_999
        and _named(
            evidence, "operational", "programming", "integrity", "database", "data error", "internal error", "my sql"
        )
        and (rule := rules.number("mysql", args[0]))
    ):
        yield Hit("code", str(args[0]), rule, "certain")


def _named(evidence: Evidence, *names: str) -> bool:
    return any(name in words for _, base in evidence.profile.names if (words := phrase(base)) for name in names)


def _grpc_code(evidence: Evidence, method: object) -> object:
    """Calls ``code()`` only where ``details()`` stands beside it: that is a gRPC error."""
    return call(method) if callable(evidence.attrs.get("details")) else None


def _aws_codes(response: object) -> Iterator[str]:
    error = response.get("Error") if isinstance(response, dict) else None
    code = error.get("Code") if isinstance(error, dict) else None
    if type(code) is str and (found := as_code(code)):
        yield found
