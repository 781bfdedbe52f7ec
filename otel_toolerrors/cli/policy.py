"""``toolerrors policy``: what is in force, number by number, and where each one comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from otel_toolerrors.faults import Rule, default_rules
from otel_toolerrors.policy import Policy, PolicyError, RetryPolicy, load_policy
from otel_toolerrors.policy.meanings import meanings

from .analyze import FormatOption
from .codes import Unusable
from .screen import Screen

Setting = tuple[str, Any, str]
"""Key, value, and where the value comes from."""

_SOURCE = re.compile(r"Source: (.+?)\.?$")
_MAIN = "main_agent"


def explain(
    *,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file; default: none, so the fail-closed defaults.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="Also resolve the retry keys for this tool, and its own section.")
    ] = None,
    source: Annotated[str, typer.Option(help="Who calls: sources may have retry keys of their own.")] = _MAIN,
    format_: FormatOption = "table",
) -> None:
    """Show each effective number, and where it comes from.

    The file, or whose advice the default is.
    """
    screen = Screen()
    effective = read_policy(policy)
    settings = [*_sections(effective, policy), *(_for_tool(effective, policy, tool, source) if tool else ())]
    if format_ == "json":
        screen.json([{"key": key, "value": _plain(value), "from": origin} for key, value, origin in settings])
        return
    screen.say(f"Policy {effective.digest}" + (f" from {policy}" if policy else ": the defaults"))
    screen.table(["key", "value", "from"], [(key, _shown(value), origin) for key, value, origin in settings])
    screen.say("S0-S4 are the five articles behind the defaults; docs/sources.md tells what each one contributes.")


def rules(format_: FormatOption = "table") -> None:
    """List the classification rules, as they are asked in turn."""
    screen = Screen()
    table = default_rules()
    if format_ == "json":
        screen.json([_rule_json(rule) for rule in table])
        return
    rows = [
        (
            rule.code,
            rule.category,
            "passes" if rule.passing else "stays",
            rule.side_effects,
            _signals(rule),
            rule.source,
        )
        for rule in table
    ]
    screen.table(["code", "category", "", "side effects", "read from", "source"], rows)


def read_policy(path: Path | None) -> Policy:
    """Read a policy file, or give the defaults."""
    try:
        return load_policy(path) if path else Policy()
    except PolicyError as error:
        raise Unusable(str(error)) from error


def _sections(policy: Policy, path: Path | None) -> Iterator[Setting]:
    for name in Policy.model_fields:
        value = getattr(policy, name)
        if isinstance(value, BaseModel):
            yield from _keys(value, name, path)
        elif isinstance(value, dict):
            for own, section in value.items():
                yield from _overrides(section, f"{name}.{own}", path)
        else:
            yield name, value, _origin(policy, name, path)


def _keys(section: BaseModel, prefix: str, path: Path | None) -> Iterator[Setting]:
    for name in type(section).model_fields:
        yield f"{prefix}.{name}", getattr(section, name), _origin(section, name, path)


def _overrides(section: BaseModel, prefix: str, path: Path | None) -> Iterator[Setting]:
    """What a section for one tool, service or source sets; what it leaves out is not its business."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _overrides(value, f"{prefix}.{name}", path)
        elif name in section.model_fields_set:
            yield f"{prefix}.{name}", value, str(path or "code")


def _for_tool(policy: Policy, path: Path | None, tool: str, source: str) -> Iterator[Setting]:
    """The retry keys as they hold for one tool called from one source, and who had the last word."""
    effective = policy.retry_for(tool, source)
    own, by_source = policy.tools.get(tool), policy.sources.get(source)
    layers = [
        (f"[tools.{tool}.retry]", own.retry if own else None),
        (f"[sources.{source}.retry]", by_source.retry if by_source else None),
    ]
    for name in RetryPolicy.model_fields:
        winner = next((label for label, keys in layers if keys is not None and name in keys.model_fields_set), None)
        origin = f"{path or 'code'} {winner}" if winner else _origin(policy.retry, name, path)
        yield f"{tool} from {source}: retry.{name}", getattr(effective, name), origin


def _origin(section: BaseModel, name: str, path: Path | None) -> str:
    if name in section.model_fields_set:
        return str(path or "code")
    found = _SOURCE.search(meanings(type(section)).get(name, ""))
    return f"default ({found[1]})" if found else "default"


def _shown(value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, list):
        return ", ".join(map(str, plain)) or "none"
    return "none" if plain is None else f"{plain:g}" if isinstance(plain, float) else str(plain).lower()


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else _dumped(value)


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


_SIGNALS = (
    "types",
    "status",
    "errno",
    "sqlstate",
    "codes",
    "names",
    "jsonrpc",
    "exit",
    "reply",
    "close",
    "mysql",
    "at",
    "message",
)


def _signals(rule: Rule) -> str:
    return ", ".join(name for name in _SIGNALS if getattr(rule, name)) or "code"


def _rule_json(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code, "category": rule.category, "passing": rule.passing, "side_effects": rule.side_effects,
        "why": rule.why, "source": rule.source,
        "signals": {name: list(getattr(rule, name)) for name in _SIGNALS if getattr(rule, name)},
    }  # fmt: skip
