"""One self-contained HTML page about what was found."""

from __future__ import annotations

from .report import JAEGER, report, write_report

__all__ = ["JAEGER", "report", "write_report"]
