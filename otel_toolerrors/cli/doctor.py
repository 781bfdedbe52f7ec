"""``toolerrors doctor``: whether everything is in place, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .analyze import FormatOption
from .codes import ExitCode
from .screen import Screen
from .traces import DEFAULT_PATH

if TYPE_CHECKING:
    from .checks import Check

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(
    path: Annotated[Path, typer.Argument(help="Folder that the trace files are, or will be, in.")] = Path(DEFAULT_PATH),
    *,
    policy: Annotated[Path | None, typer.Option(help="Policy file; default: toolerrors.toml, if it is here.")] = None,
    catalog: Annotated[
        Path | None, typer.Option(help="Suggestion catalog; default: toolerrors.catalog.toml, if it is here.")
    ] = None,
    app: Annotated[
        str | None, typer.Option(help="A module of yours to import first: has it set up tracing? Its code runs.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="A warning counts as a failure.")] = False,
    format_: FormatOption = "table",
) -> None:
    """Check that everything is in place; each fault has its fix.

    Versions, exporter, trace files, limits, policy, catalog and frameworks.
    """
    from .checks import CHECKS, Where, imported

    screen = Screen()
    where = Where(traces=path, policy=policy, catalog=catalog)
    found = [imported(app)] if app else []
    found += [check for look in CHECKS for check in look(where)]
    if format_ == "json":
        screen.json([asdict(check) for check in found])
    else:
        screen.table(["", "check", "found"], [row for one in found for row in _rows(one)])
        levels = [one.level for one in found]
        screen.say(f"{levels.count('ok')} ok, {levels.count('warn')} to look at, {levels.count('fail')} failed")
    bad = {"fail", "warn"} if strict else {"fail"}
    raise typer.Exit(ExitCode.FINDINGS if bad & {one.level for one in found} else ExitCode.DONE)


def _rows(check: Check) -> Iterator[tuple[object, object, object]]:
    yield (check.level, _STYLES[check.level]), check.name, check.told
    if check.fix:
        yield "", "", (f"fix: {check.fix}", "cyan")
