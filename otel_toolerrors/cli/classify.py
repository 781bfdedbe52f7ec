"""``toolerrors classify``: what the layer makes of an error, and which signals said so."""

from __future__ import annotations

import builtins
import importlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from otel_toolerrors.faults import Fault, Rule, RuleError, classify as classify_exception, classify_result, load_rules
from otel_toolerrors.faults.explain import explain
from otel_toolerrors.faults.parse import fault_from_body, fault_from_traceback
from otel_toolerrors.vocabulary import Effects

from .analyze import FormatOption
from .codes import Unusable
from .screen import Screen

_LIMIT = 1_000_000
"""Characters of standard input that are read."""


def classify(
    *,
    effects: Annotated[Effects, typer.Option(help="What the tool declares about itself.")] = "read",
    status: Annotated[
        int | None, typer.Option(help="The input is the body of an HTTP answer with this status.")
    ] = None,
    header: Annotated[list[str] | None, typer.Option(help="A header of that answer, 'Retry-After: 7'.")] = None,
    expr: Annotated[
        str | None,
        typer.Option(help="A Python expression that gives the exception. It is evaluated: only use what you trust."),
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="Your own rules, ahead of the default ones.")] = None,
    format_: FormatOption = "table",
) -> None:
    """Say what the layer makes of an error.

    A pasted traceback, or a JSON result, from standard input.
    """
    screen, own = Screen(), _own_rules(rules)
    fault = _fault(effects, status, header or [], expr, own)
    if fault is None:
        screen.say("Not an error: none of the forms in which results report errors. A tool's value may say anything.")
        return
    if format_ == "json":
        screen.json(_as_json(fault))
        return
    screen.table(["", ""], _lines(fault, explain(fault, rules=own).rule))
    if fault.verdicts:
        screen.title("What each signal says, the most trusted first")
        rows = [(one.signal, one.observed, one.category, one.code, one.strength) for one in fault.verdicts]
        screen.table(["signal", "read", "category", "code", "strength"], rows)


def _fault(
    effects: Effects, status: int | None, headers: list[str], expr: str | None, rules: tuple[Rule, ...]
) -> Fault | None:
    if expr is not None:
        return classify_exception(evaluated(expr), effects=effects, rules=rules)
    try:
        if status is not None:
            text = "" if sys.stdin.isatty() else sys.stdin.read(_LIMIT)
            return fault_from_body(text, status=status, fields=fields_of(headers), effects=effects, rules=rules)
        text = _read()
        value = _json(text)
        if value is not None:
            return classify_result(value, effects=effects, rules=rules)
        return fault_from_traceback(text, effects=effects, rules=rules)
    except ValueError as error:
        raise Unusable(str(error)) from error


def fields_of(headers: list[str]) -> dict[str, str]:
    """Read ``Name: value`` lines as they stand on a command line."""
    fields = {}
    for header in headers:
        name, colon, value = header.partition(":")
        if not colon:
            raise Unusable(f"--header {header!r}: write 'Name: value', as in 'Retry-After: 7'.")
        fields[name.strip()] = value.strip()
    return fields


def _json(text: str) -> Any:
    """The value of a JSON text; None if it is not JSON, or only a number or a string."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


class _Modules(dict[str, Any]):
    """The names of an expression: modules are imported when they are named."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return importlib.import_module(name)


def evaluated(expression: str) -> BaseException:
    """Evaluate a Python expression that gives an exception. It runs on this machine, as its user."""
    try:
        value = eval(expression, _Modules())  # noqa: S307 - documented: the user's own expression, on the user's machine
    except Exception as error:
        raise Unusable(f"--expr {expression!r}: {type(error).__name__}: {error}") from error
    if isinstance(value, type) and issubclass(value, BaseException):
        value = value()
    if not isinstance(value, BaseException):
        raise Unusable(f"--expr {expression!r}: gives {type(value).__name__}, not an exception.")
    return value


def _read() -> str:
    if sys.stdin.isatty():
        Screen(sys.stderr).say("Paste a traceback or a JSON result, then press Ctrl-D.")
    text = sys.stdin.read(_LIMIT)
    if not text.strip():
        raise Unusable("nothing to classify. Pipe a traceback or a JSON result in, or use --expr or --status.")
    return text


def _own_rules(path: Path | None) -> tuple[Rule, ...]:
    try:
        return tuple(load_rules(path)) if path else ()
    except RuleError as error:
        raise Unusable(str(error)) from error


def _lines(fault: Fault, rule: Rule | None) -> list[tuple[str, str]]:
    again = "yes" if fault.retryable else "no" if not fault.passing else "only with an idempotency key"
    lines = [
        ("category", fault.category),
        ("code", fault.code),
        ("retry", again),
        ("side effects", fault.side_effects),
        ("retry after", f"{fault.retry_after:g} s" if fault.retry_after is not None else "-"),
        ("decided by", f"{fault.signal} ({fault.strength})"),
        ("message", fault.message),
        ("fingerprint", fault.fingerprint),
    ]
    if rule is not None:
        lines += [(name, text) for name, text in (("why", rule.why), ("source", rule.source)) if text]
    return [*lines, ("dissent", fault.dissent)] if fault.dissent else lines


def _as_json(fault: Fault) -> dict[str, Any]:
    names = (
        "category", "code", "passing", "retryable", "side_effects", "effects", "retry_after", "http_status", "message",
        "fingerprint", "exception_type", "refused_by_server", "already_retried", "signal", "strength", "dissent",
    )  # fmt: skip
    verdicts = [
        {name: getattr(one, name) for name in ("signal", "observed", "category", "code", "strength")}
        for one in fault.verdicts
    ]
    return {name: getattr(fault, name) for name in names} | {"verdicts": verdicts}
