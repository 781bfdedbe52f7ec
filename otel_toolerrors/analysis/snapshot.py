"""Traces whose views are stored while many questions are asked: each is computed once, and not for every mention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import duckdb

from .ingest import Ingested
from .traces import Traces
from .views import views

_READ = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")

_WIDE = frozenset({"events", "event_owners"})
"""Read by other views alone, which take little of them."""


class Snapshot(Traces):
    """A connection of its own, on which a view becomes a temporary table when a query first reads it.

    On small traces planning the tree of views takes longer than running it, on large ones running it longer than
    reading what it gave. The tables are gone when the connection is closed; until then they go to disk where memory
    is short, as other results do.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, ingested: Ingested) -> None:
        super().__init__(connection.cursor(), ingested)
        self._views = {name: query for name, query in views() if name not in _WIDE}
        """Those that are not stored yet."""

    def sql(self, query: str, params: Any = None) -> duckdb.DuckDBPyRelation:
        """Ask. A temporary table hides the view of its name."""
        self._store(query)
        return self._connection.sql(query, params=params)

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """Give itself."""
        yield self

    def _store(self, query: str) -> None:
        for name in _READ.findall(query):
            if view := self._views.pop(name, None):
                self._store(view)
                self._connection.execute(f"CREATE TEMP TABLE {name} AS {view}")
