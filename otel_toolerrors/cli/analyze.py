"""``toolerrors analyze``: what the traces say the layer, the policy or the catalog got wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .codes import ExitCode
from .screen import SEVERITY_STYLES, Screen
from .traces import DEFAULT_PATH, DatabaseOption, TracesPath, opened, quarantine, tell_quarantined

if TYPE_CHECKING:
    from otel_toolerrors.analysis import Traces
    from otel_toolerrors.analysis.findings import Finding

Format = Literal["table", "json"]
FormatOption = Annotated[Format, typer.Option("--format", help="table is for people, json for programs.")]
Threshold = Literal["info", "low", "medium", "high", "never"]


def analyze(
    path: TracesPath = DEFAULT_PATH,
    *,
    format_: FormatOption = "table",
    fail_on: Annotated[Threshold, typer.Option(help="Exit with 1 if a finding is at least this grave.")] = "never",
    details: Annotated[
        bool, typer.Option("--details", help="Also explain each finding, and what would mend it.")
    ] = False,
    database: DatabaseOption = None,
) -> None:
    """Report what the layer, the policy or the catalog got wrong.

    Each finding comes with its evidence in the traces, and with what would mend it.
    """
    from otel_toolerrors.analysis.findings import at_least_as_grave

    screen = Screen()
    with opened(path, database) as traces:
        findings: list[Finding] = traces.findings()
        left_out = quarantine(traces)
        if format_ == "json":
            screen.json(report(path, traces, findings, left_out))
            code = ExitCode.QUARANTINED if left_out else ExitCode.DONE
        else:
            screen.say(summary(traces))
            show_findings(screen, findings, details=details)
            code = tell_quarantined(screen, left_out)
    if fail_on != "never" and any(at_least_as_grave(finding.severity, fail_on) for finding in findings):
        code |= ExitCode.FINDINGS
    raise typer.Exit(code)


def report(path: str, traces: Traces, findings: Sequence[Finding], left_out: list[dict[str, Any]]) -> dict[str, Any]:
    """Give everything that ``analyze`` knows, as JSON can hold it."""
    return {
        "path": path,
        "ingested": asdict(traces.ingested),
        "runs": _count(traces, "SELECT count(*) FROM runs"),
        "calls": dict(traces.sql("SELECT outcome, count(*) FROM calls GROUP BY outcome ORDER BY outcome").fetchall()),
        "findings": [finding.to_dict() for finding in findings],
        "quarantine": left_out,
    }


def summary(traces: Traces) -> str:
    """Say in one line what the traces hold."""
    outcomes = traces.sql(
        "SELECT coalesce(outcome, 'unknown'), count(*) FROM calls GROUP BY 1 ORDER BY 2 DESC, 1"
    ).fetchall()
    total = sum(number for _, number in outcomes)
    parts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes)
    runs = _count(traces, "SELECT count(*) FROM runs")
    return f"{runs} runs, {total} calls{f': {parts}' if parts else ''}"


def show_findings(screen: Screen, findings: Sequence[Finding], *, details: bool) -> None:
    """Print findings, the gravest first."""
    if not findings:
        screen.say("No findings.")
        return
    screen.title(f"{len(findings)} finding{'' if len(findings) == 1 else 's'}")
    rows = [
        ((one.severity, SEVERITY_STYLES[one.severity]), one.kind, one.title, _cost(one), _example(one), one.id)
        for one in findings
    ]
    screen.table(["severity", "kind", "what", "cost", "example trace", "id"], rows)
    if details:
        for finding in findings:
            _explain(screen, finding)


def _explain(screen: Screen, finding: Finding) -> None:
    screen.title(finding.title)
    screen.say(finding.explanation)
    if finding.patch is not None:
        screen.say(f"To mend it, in the {finding.patch.target} file (toolerrors apply --finding {finding.id}):")
        screen.block(finding.patch.toml(), "green", indent=4)


def _cost(finding: Finding) -> str:
    cost = finding.cost
    parts = [f"{cost.seconds:.0f} s"] if cost.seconds >= 1 else []
    parts += [f"{cost.tokens} tokens"] if cost.tokens else []
    return ", ".join(parts) or "-"


def _example(finding: Finding) -> str:
    return finding.evidence[0].trace_id[:8] if finding.evidence else "-"


def _count(traces: Traces, query: str) -> int:
    return int(traces.sql(query).fetchall()[0][0])
