"""The tables of a database, to be compared."""

from pathlib import Path
from typing import Any

import duckdb

TABLES = ("spans", "span_events", "quarantine")


def tables(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Read all rows of the tables that a user sees, in an order that says nothing."""
    with duckdb.connect(str(database), read_only=True) as connection:
        return {name: sorted(map(repr, connection.execute(f"FROM {name}").fetchall())) for name in TABLES}
