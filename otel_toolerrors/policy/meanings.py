"""What each key of a policy means, read from the model's source, where it stands below the key.

pydantic would read it as well, for every process that imports the model; only pages and commands want to know.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from textwrap import dedent

from pydantic import BaseModel


@cache
def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Map each key to its meaning, also those that a section inherits."""
    found: dict[str, str] = {}
    for section in reversed(model.__mro__):
        if issubclass(section, BaseModel) and section is not BaseModel:
            found |= _documented(section)
    return found


def _documented(section: type[BaseModel]) -> dict[str, str]:
    [definition] = ast.parse(dedent(inspect.getsource(section))).body
    statements = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        key.target.id: inspect.cleandoc(text.value.value)
        for key, text in pairwise(statements)
        if isinstance(key, ast.AnnAssign) and isinstance(key.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
