"""Prints the policy's keys as a reference page: ``python -m otel_toolerrors.policy.reference``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from .meanings import meanings
from .model import Fallback, Policy, ServicePolicy, SourcePolicy, ToolPolicy

_HEAD = """\
# The policy file

TOML. Every key is optional; what a file does not say keeps its default. Unknown keys and numbers out of range are
refused with the line and the nearest valid key. All durations are seconds. S0-S4 are explained in
[sources.md](sources.md); "ours" is a choice of this project.

Precedence, weakest first: the default, `[retry]`, `[sources.NAME.retry]`, `[tools.NAME.retry]`. A tool's own table
also wins over what its decorator declares. This page is generated from the model (`make docs-reference`).
"""

_NAMED: tuple[tuple[str, type[BaseModel]], ...] = (
    ("tools.NAME", ToolPolicy),
    ("[tools.NAME.fallback]", Fallback),
    ("services.NAME", ServicePolicy),
    ("sources.NAME", SourcePolicy),
)


def render() -> str:
    """Write the page."""
    sections = [
        (name, field.annotation)
        for name, field in Policy.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    ]
    return "\n".join([_HEAD, *_table("", Policy, only=("mode",)), *_tables(sections), *_tables(_NAMED)])


def _tables(sections: Any) -> Iterator[str]:
    for name, model in sections:
        yield from _table(name, model)


def _table(name: str, model: type[BaseModel], only: tuple[str, ...] | None = None) -> Iterator[str]:
    yield f"## `[{name}]`\n" if name else "## At the top\n"
    if name:
        yield f"{(model.__doc__ or '').strip()}\n"
    yield "| key | default | allowed | meaning |"
    yield "|---|---|---|---|"
    schema = model.model_json_schema()
    for key, field in model.model_fields.items():
        if only is None or key in only:
            meaning = " ".join(meanings(model).get(key, "As the section of this name, for these only.").split())
            allowed = _allowed(schema["properties"][key], schema.get("$defs", {}))
            yield f"| `{key}` | {_default(field)} | {allowed} | {meaning} |"
    yield ""


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, set | frozenset | tuple):
        return f"`{json.dumps(sorted(value))}`"
    return f"`{json.dumps(value)}`" if isinstance(value, str | int | float | bool | dict) else "its defaults"


_BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def _allowed(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        inner = definitions.get(name, {})
        return f"a table like `{name}`" if inner.get("type") == "object" else _allowed(inner, definitions)
    if "anyOf" in schema:
        return " or ".join(_allowed(one, definitions) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_allowed(schema.get('items', {}), definitions)}"
    bounds = " ".join(f"{sign} {schema[bound]:g}" for bound, sign in _BOUNDS.items() if bound in schema)
    return f"{schema.get('type', 'any')} {bounds}".strip()


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201 - the page is the output
