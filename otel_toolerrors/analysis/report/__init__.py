"""One self-contained HTML page about what was found."""

from __future__ import annotations

from .report import JAEGER, check_trace_url, report, write_report

__all__ = ["JAEGER", "check_trace_url", "report", "write_report"]
