"""How the models are set up whose JSON schema is published."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from otel_toolerrors.policy.meanings import meanings


def _say_what_fields_mean(schema: dict[str, Any], model: type[BaseModel]) -> None:
    with suppress(OSError, TypeError):  # there may be no sources to read
        for field, meaning in meanings(model).items():
            schema["properties"][field]["description"] = meaning


PUBLISHED: Final = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_say_what_fields_mean)
"""Only a schema has descriptions; ``use_attribute_docstrings`` would read the sources in every process."""
