"""Reading a policy file, with errors that name the key, the line and the fix."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from otel_toolerrors.faults.toml import read_toml

from .model import Policy


class PolicyError(ValueError):
    """A policy that cannot be used. The text lists every problem with its place and its fix."""


def load_policy(path: str | Path) -> Policy:
    """Read a TOML policy file.

    Raises:
        PolicyError: The file is missing, is not TOML, or says something that is not a policy.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot read the policy ({error}). `toolerrors policy explain` shows the defaults."
        raise PolicyError(msg) from error
    return parse_policy(text, name=str(path))


def parse_policy(text: str, *, name: str = "policy") -> Policy:
    """Read TOML text; ``name`` stands in error messages.

    Raises:
        PolicyError: It is not TOML, or says something that is not a policy.
    """
    try:
        tables = read_toml(text)
    except ValueError as error:
        msg = f"{name}: not TOML: {error}"
        raise PolicyError(msg) from error
    try:
        return Policy.model_validate(tables)
    except ValidationError as error:
        lines = _line_numbers(text)
        problems = [_describe(problem, lines, name) for problem in error.errors(include_url=False)]
        raise PolicyError("\n".join(problems)) from error


def _describe(problem: Any, lines: dict[tuple[str, ...], int], name: str) -> str:
    path = tuple(str(part) for part in problem["loc"])
    line = next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), 1)
    dotted = ".".join(path) or "policy"
    if problem["type"] == "extra_forbidden":
        known = _keys_at(path[:-1])
        near = difflib.get_close_matches(path[-1], known, n=1, cutoff=0.5)
        fix = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(sorted(known))}"
        return f"{name}:{line}: unknown key {dotted!r}; {fix}"
    value = f" (is {problem['input']!r})" if isinstance(problem["input"], str | int | float) else ""
    return f"{name}:{line}: {dotted}: {problem['msg'].lower()}{value}"


def _keys_at(path: tuple[str, ...]) -> list[str]:
    """List the keys that are valid in the table at ``path``, read off the model."""
    hint: Any = Policy
    for part in path:
        model = _model_in(hint)
        if model is not None and part in model.model_fields:
            hint = model.model_fields[part].annotation
        # Otherwise the part is a name chosen by the user, or an index: the hint holds the element's model.
    model = _model_in(hint)
    return list(model.model_fields) if model else []


def _model_in(hint: Any) -> type[BaseModel] | None:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    return next((model for arg in get_args(hint) if (model := _model_in(arg))), None)


# Not compiled, as only a policy with a mistake needs them.
_TABLE = r"^\s*\[{1,2}\s*(?P<path>[^\]]+?)\s*\]{1,2}"
_KEY = r"""^\s*(?P<path>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
_PART = r"""[\w-]+|"[^"]*"|'[^']*'"""


def _line_numbers(text: str) -> dict[tuple[str, ...], int]:
    """Map each dotted path to the line it stands on; tomllib keeps no positions."""
    places: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    rows: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(_TABLE, line):
            table = _parts(header["path"])
            if line.lstrip().startswith("[["):
                rows[table] = rows.get(table, -1) + 1
                table = (*table, str(rows[table]))
            places.setdefault(table, number)
        elif key := re.match(_KEY, line):
            places.setdefault((*table, *_parts(key["path"])), number)
    return places


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, path))
