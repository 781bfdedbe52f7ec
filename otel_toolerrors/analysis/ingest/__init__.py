"""From trace files to tables."""

from __future__ import annotations

from .parquet import export
from .reader import Ingested, Progress, ingest

__all__ = ["Ingested", "Progress", "export", "ingest"]
