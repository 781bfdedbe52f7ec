"""Write the table of the documentation: ``python -m tests.integrations.conformance``."""

from __future__ import annotations

from pathlib import Path

from tests.integrations.conformance.table import PAGE, render

Path(PAGE).write_text(render(), encoding="utf-8")
