"""The same views and findings on ClickHouse, over the tables that the collector's exporter writes.

The queries are the ones that DuckDB runs. :mod:`.dialect` renders the few words in which
the two differ, :mod:`.contract` reads the exporter's tables as ours, and :mod:`.snapshot`
keeps both for a session, so that every finding speaks of the same data.
"""

from __future__ import annotations

from .traces import ClickHouseTraces, open_clickhouse

__all__ = ["ClickHouseTraces", "open_clickhouse"]
