"""The suggestion catalog: static, versioned hints for the model, chosen by what happened."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from otel_toolerrors.faults import Fault
from otel_toolerrors.faults.toml import read_toml
from otel_toolerrors.vocabulary import Category, Effects, SideEffects


class CatalogError(ValueError):
    """A suggestion catalog that cannot be used; the text names the place."""


class Suggestion(BaseModel):
    """One hint, and when it applies: every condition that is given must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]
    text: Annotated[str, Field(min_length=1, max_length=400)]
    """What the model reads. Static: nothing from the error is put into it."""
    category: Category | None = None
    code: str | None = None
    """Pattern for the fault's code, with ``*``."""
    tool: str | None = None
    """Pattern for the tool's name, with ``*``."""
    effects: frozenset[Effects] | None = None
    side_effects: frozenset[SideEffects] | None = None
    tools: tuple[str, ...] = ()
    """Tools that the text tells the model to use; one that the run does not offer makes the hint stale."""

    def applies(self, tool: str, fault: Fault) -> bool:
        """Whether the hint is for this failure."""
        return (
            self.category in (None, fault.category)
            and (self.code is None or fnmatchcase(fault.code, self.code))
            and (self.tool is None or fnmatchcase(tool, self.tool))
            and (self.effects is None or fault.effects in self.effects)
            and (self.side_effects is None or fault.side_effects in self.side_effects)
        )


class Catalog(BaseModel):
    """An ordered list of suggestions; the more specific ones come first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    suggestion: tuple[Suggestion, ...] = ()
    without: frozenset[str] = frozenset()
    """Ids of suggestions below this catalog that are left out."""

    def choose(self, tool: str, fault: Fault, limit: int) -> list[Suggestion]:
        """Pick the suggestions for a failure, in order, at most ``limit``."""
        return [hint for hint in self.suggestion if hint.applies(tool, fault)][:limit]

    def stale(self, offered: Collection[str]) -> dict[str, list[str]]:
        """Map the id of each hint that names a tool which is not offered to those tools."""
        gaps = {hint.id: [name for name in hint.tools if name not in offered] for hint in self.suggestion}
        return {hint: missing for hint, missing in gaps.items() if missing}

    def over(self, base: Self) -> Catalog:
        """Put these suggestions ahead of ``base``; one with the same id replaces it, and those in ``without`` go."""
        replaced = {hint.id for hint in self.suggestion} | self.without
        rest = tuple(hint for hint in base.suggestion if hint.id not in replaced)
        return Catalog(version=f"{self.version}+{base.version}", suggestion=self.suggestion + rest)


@cache
def default_catalog() -> Catalog:
    """Read the suggestions that the package ships."""
    return _parse(files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8"), "the default catalog")


def load_catalog(path: str | Path, *, alone: bool = False) -> Catalog:
    """Read a catalog file and put it ahead of the default one (or use it ``alone``).

    Raises:
        CatalogError: The file is missing, is not TOML, or holds something that is not a suggestion.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot read the suggestion catalog ({error})"
        raise CatalogError(msg) from error
    own = _parse(text, str(path))
    return own if alone else own.over(default_catalog())


def _parse(text: str, name: str) -> Catalog:
    try:
        tables = read_toml(text)
    except ValueError as error:
        msg = f"{name}: not TOML: {error}"
        raise CatalogError(msg) from error
    try:
        catalog = Catalog.model_validate(tables)
    except ValidationError as error:
        problems = [f"{name}: {'.'.join(map(str, p['loc']))}: {p['msg']}" for p in error.errors(include_url=False)]
        raise CatalogError("\n".join(problems)) from error
    ids = [hint.id for hint in catalog.suggestion]
    if twice := sorted({hint for hint in ids if ids.count(hint) > 1}):
        msg = f"{name}: suggestion ids used twice: {', '.join(twice)}"
        raise CatalogError(msg)
    return catalog
