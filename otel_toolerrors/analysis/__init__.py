"""Traces to answers: read what the layer recorded, find what it got wrong, and tune the policy by replay.

>>> from otel_toolerrors import analysis
>>> traces = analysis.open("traces/")
>>> traces.sql("from calls where outcome = 'recovered'").show()
"""

from __future__ import annotations

try:
    import duckdb as _duckdb  # noqa: F401 - only to say which extra is missing
except ImportError as error:
    raise ImportError("The analysis needs DuckDB: pip install 'otel-toolerrors[analysis]'") from error

from .ingest import Ingested
from .sources import TraceSourceError
from .traces import Traces, open  # noqa: A004 - see traces.open

__all__ = ["Ingested", "TraceSourceError", "Traces", "open"]
