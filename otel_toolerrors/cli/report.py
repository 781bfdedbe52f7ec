"""``toolerrors report``: what ``analyze`` finds, as one HTML file to send around."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .analyze import FormatOption
from .codes import ExitCode, Unusable
from .policy import read_policy
from .screen import Screen
from .traces import DEFAULT_PATH, DatabaseOption, TracesPath, opened, quarantine, tell_quarantined

if TYPE_CHECKING:
    from otel_toolerrors.analysis.tune import Tuned

_DRAWS = ("altair", "jinja2", "vl_convert")


def report(
    path: TracesPath = DEFAULT_PATH,
    *,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("toolerrors.html"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite that file.")] = False,
    trace_url: Annotated[
        str | None,
        typer.Option(
            help="Address of a trace in your viewer, to link to: 'http://localhost:16686/trace/{trace_id}' for Jaeger."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The page's heading.")] = "What went wrong with tool calls",
    tune: Annotated[bool, typer.Option("--tune", help="Also search for a better policy, and show it.")] = False,
    policy: Annotated[
        Path | None, typer.Option(help="With --tune: the policy that the traces were made under.")
    ] = None,
    database: DatabaseOption = None,
    format_: FormatOption = "table",
) -> None:
    """Write findings and charts as one HTML file.

    With the changes that they propose. The file needs no network and no script.
    """
    _check(out, trace_url, force=force)
    from otel_toolerrors.analysis.report import report as page, write_report

    screen, notes = Screen(), Screen(sys.stderr)
    base = read_policy(policy)
    with opened(path, database) as traces:
        tuned: Tuned | None = None
        if tune:
            with notes.progress("Replaying the traces under other policies") as progress:
                tuned = traces.tune(policy=base, progress=progress)
        with notes.progress("Looking and drawing"):
            findings = traces.findings()
            html = page(traces, findings=findings, tuned=tuned, trace_url=trace_url, title=title)
        left_out = quarantine(traces)
    try:
        write_report(out, html)
    except OSError as error:
        raise Unusable(f"{out}: cannot be written ({error.strerror}). Name another file with --out.") from error
    if format_ == "json":
        screen.json({"written": str(out), "findings": [finding.id for finding in findings], "quarantine": left_out})
        raise typer.Exit(ExitCode.QUARANTINED if left_out else ExitCode.DONE)
    number = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}"
    screen.say(f"Written to {out}: {number}, {len(html.encode()) / 1e6:.1f} MB. Open it in any browser.")
    raise typer.Exit(tell_quarantined(screen, left_out))


def _check(out: Path, trace_url: str | None, *, force: bool) -> None:
    """Refuse before the work what cannot end well."""
    if missing := [name for name in _DRAWS if not find_spec(name)]:
        raise Unusable(f"{', '.join(missing)}: not installed. Run: pip install 'otel-toolerrors[cli,report]'")
    from otel_toolerrors.analysis.report import check_trace_url

    if out.exists() and not force:
        raise Unusable(f"{out}: exists. Name another file with --out, or overwrite it with --force.")
    try:
        check_trace_url(trace_url)
    except ValueError as error:
        raise Unusable(f"--trace-url: {error}") from error
