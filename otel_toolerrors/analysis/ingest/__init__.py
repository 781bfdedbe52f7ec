"""From trace files to tables."""

from __future__ import annotations

from .object_storage import is_address
from .parquet import export
from .reader import Ingested, Progress, ingest, ingest_parquet

__all__ = ["Ingested", "Progress", "export", "ingest", "ingest_parquet", "is_address"]
