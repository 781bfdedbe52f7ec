"""The recipes' parts that are no framework's: the page's snippets, and the tools that each of them is tried with."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from otel_toolerrors.testing import Bench, Script


def recipe(title: str) -> Any:
    """A recipe's code as a module, as the page prints it."""
    page = Path("docs/integrations/recipes.md").read_text(encoding="utf-8")
    found = re.search(rf"## {title}\n\n```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    module = ModuleType(f"recipe_{title.lower()}")
    sys.modules[module.__name__] = module  # where pydantic looks for what annotations name
    exec(found.group(1), vars(module))  # noqa: S102 - our own page
    return module


class Kit:
    """A layer with the tools that every recipe is tried with."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.search = Script(ConnectionResetError(), "one lamp")
        self.book = Script(ValueError("date must be ISO 8601"), "booked")
        self.read = Script(PermissionError(13, "Permission denied"))
        for name in ("search", "read"):
            self.bench.layer.tool(name=name, effects="read")(getattr(self, name))

    def run(self) -> Any:
        """Begin a run."""
        return self.bench.layer.run()

    def told(self, texts: list[str]) -> None:
        """Check what the model was told of a search, and of two bookings."""
        assert 2 == len(self.search.calls), "the model never saw the reset"
        assert "one lamp" in texts[0]
        assert "validation" in texts[1]
        assert "date must be ISO 8601" in texts[1]
        assert "booked" in texts[2]
        assert 2 == len(self.book.calls), "once for each time that the model asked"
