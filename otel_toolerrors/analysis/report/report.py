"""A report as one HTML file: it needs no network, runs no script, and trusts nothing that the traces say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from otel_toolerrors.analysis.findings import Evidence, Finding, find
from otel_toolerrors.analysis.tune import Tuned

from .charts import Picture, failures_by_tool, outcomes_over_time, picture, tuning_front
from .errors import errors
from .summary import Summary, summarise

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

JAEGER = "http://localhost:16686/trace/{trace_id}?uiFind={span_id}"
"""Where a Jaeger on this machine shows a span."""


def report(
    traces: Traces,
    *,
    findings: Sequence[Finding] | None = None,
    tuned: Tuned | None = None,
    trace_url: str | None = None,
    title: str = "What went wrong with tool calls",
) -> str:
    """Write the findings, charts and proposed changes as one HTML page.

    Args:
        traces: What was recorded.
        findings: What was found; looked for anew if None.
        tuned: A tuned policy to show beside it.
        trace_url: Address of a trace in your viewer, with ``{trace_id}`` and perhaps ``{span_id}``; see `JAEGER`.
            Ids are shown without links if None.
        title: The page's title.

    Raises:
        ValueError: ``trace_url`` is no http address with a ``{trace_id}``.
        ImportError: altair, vl-convert or Jinja is missing: ``pip install 'otel-toolerrors[report]'``.
    """
    check_trace_url(trace_url)
    from jinja2 import Environment, PackageLoader  # noqa: PLC0415 - an extra

    environment = Environment(
        loader=PackageLoader(__package__, "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"moment": _moment, "count": "{:,}".format}
    summary = summarise(traces)
    return environment.get_template("report.html.jinja").render(
        title=title,
        summary=summary,
        findings=find(traces) if findings is None else findings,
        errors=errors(traces),
        tuned=tuned,
        pictures=_pictures(summary, tuned),
        ingested=traces.ingested,
        link=lambda evidence: _link(trace_url, evidence),
    )


def write_report(path: str | Path, html: str) -> Path:
    """Save a report, readable by its owner only: it holds messages from your tools."""
    target = Path(path)
    target.touch(mode=0o600)
    target.write_text(html, encoding="utf-8")
    return target


def _pictures(summary: Summary, tuned: Tuned | None) -> list[Picture]:
    drawn = [picture(outcomes_over_time(summary))] if summary.over_time else []
    drawn += [picture(failures_by_tool(summary))] if summary.by_tool else []
    drawn += [picture(tuning_front(tuned))] if tuned is not None else []
    return drawn


def check_trace_url(template: str | None) -> None:
    """Refuse a template that is no http address with a ``{trace_id}``; None links to nothing.

    Raises:
        ValueError: The text says what it may hold.
    """
    if template is None:
        return
    try:
        filled = template.format(trace_id="0", span_id="0")
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ValueError(f"a trace's address may only hold {{trace_id}} and {{span_id}}: {template!r}") from error
    if urlsplit(filled).scheme not in ("http", "https") or "{trace_id}" not in template:
        raise ValueError(f"a trace's address must be http with {{trace_id}} in it, not {template!r}")


def _link(template: str | None, evidence: Evidence) -> str | None:
    if template is None:
        return None
    return template.format(trace_id=quote(evidence.trace_id, safe=""), span_id=quote(evidence.span_id, safe=""))


def _moment(seconds: float | None) -> str:
    return "–" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
