"""Opening traces for a subcommand: errors become sentences, quarantined lines are told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otel_toolerrors.telemetry.setup import TRACES_DIR

from .codes import ExitCode, Unusable
from .screen import Screen

if TYPE_CHECKING:
    from otel_toolerrors.analysis import Traces

TracesPath = Annotated[str, typer.Argument(metavar="[PATH]", help="File, folder or glob of traces, or a .duckdb file.")]
DEFAULT_PATH = TRACES_DIR
"""Where `configure` puts traces if nobody says otherwise."""
DatabaseOption = Annotated[Path | None, typer.Option(help="Keep what was read here; later only what is new is read.")]

_SHOWN = 5


@contextmanager
def opened(path: str, database: Path | None = None) -> Iterator[Traces]:
    """Open traces, or say what to do instead."""
    try:
        from otel_toolerrors import analysis
    except ModuleNotFoundError as error:
        raise Unusable(f"{error.name} is not installed. Run: pip install 'otel-toolerrors[analysis]'") from error
    try:
        with Screen(sys.stderr).progress("Reading the traces") as tell:
            traces = analysis.open(path, database=database, progress=lambda done, total: tell(done / max(total, 1)))
    except analysis.TraceSourceError as error:
        raise Unusable(str(error)) from error
    with traces:
        yield traces


def quarantine(traces: Traces) -> list[dict[str, Any]]:
    """What could not be read: path, line and reason."""
    rows = traces.sql("SELECT path, line, reason FROM quarantine ORDER BY path, line").fetchall()
    return [{"path": path, "line": line, "reason": reason} for path, line, reason in rows]


def tell_quarantined(screen: Screen, rows: list[dict[str, Any]]) -> ExitCode:
    """Say which lines were left out; the code that says so, too."""
    if not rows:
        return ExitCode.DONE
    lines = "1 line" if len(rows) == 1 else f"{len(rows)} lines"
    screen.say(f"{lines} could not be read, and are not in this answer:", "yellow")
    for row in rows[:_SHOWN]:
        screen.say(f"  {row['path']}:{row['line']}: {row['reason']}")
    if len(rows) > _SHOWN:
        screen.say(f"  and {len(rows) - _SHOWN} more: see the table quarantine")
    return ExitCode.QUARANTINED
