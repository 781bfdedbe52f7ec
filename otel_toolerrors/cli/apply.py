"""``toolerrors apply``: what findings propose, written as new files beside those in force."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .analyze import FormatOption
from .codes import Unusable
from .screen import Screen
from .traces import DEFAULT_PATH, DatabaseOption, TracesPath, opened

if TYPE_CHECKING:
    from otel_toolerrors.analysis.findings import Finding
    from otel_toolerrors.analysis.patch import Patch, Target

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def apply(
    path: TracesPath = DEFAULT_PATH,
    *,
    finding: Annotated[
        list[str] | None, typer.Option(help="Id of a finding, as analyze shows it; may be repeated. Default: all.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the new files.")] = Path(".toolerrors/proposed"),
    policy: Annotated[Path | None, typer.Option(help="The policy in force; its content is kept.")] = None,
    rules: Annotated[Path | None, typer.Option(help="Your classification rules in force.")] = None,
    catalog: Annotated[Path | None, typer.Option(help="Your suggestion catalog in force.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite without asking.")] = False,
    database: DatabaseOption = None,
    format_: FormatOption = "table",
) -> None:
    """Write what findings propose as new files.

    Policy, rules and catalog; shows what differs, and how to try it.
    """
    screen = Screen()
    with opened(path, database) as traces:
        chosen = _chosen(traces.findings(), finding or [])
    patches = [one.patch for one in chosen if one.patch is not None]
    given: dict[Target, Path | None] = {"policy": policy, "rules": rules, "catalog": catalog}
    bases = {target: base for target, base in given.items() if base is not None}
    diffs = _differences(patches, bases, out)
    there = [file for file in _files(diffs, out) if file.exists() and not force]
    ask = bool(there) and format_ != "json" and sys.stdin.isatty()
    if there and not ask:
        raise Unusable(f"{_names(there)}: exists. Name another folder with --out, or overwrite with --force.")
    if format_ != "json":
        for text in diffs.values():
            _show(screen, text)
    if ask and not typer.confirm(f"{_names(there)}: overwrite?", err=True):
        raise Unusable("nothing was written.")
    written = _written(patches, bases, out, overwrite=force or ask)
    if format_ == "json":
        files = {target: str(path) for target, path in written.items()}
        screen.json({"findings": [one.id for one in chosen], "written": files, "diff": diffs})
        return
    screen.title("Written, and nothing else was changed")
    rows = [(target, file, _how_to_try(target, path, file, bases.get(target))) for target, file in written.items()]
    screen.table(["what", "where", "try it"], rows)


def _chosen(findings: Sequence[Finding], ids: Sequence[str]) -> list[Finding]:
    """The findings that were asked for, or all; only those that propose something."""
    able = [one for one in findings if one.patch is not None]
    by_id = {one.id: one for one in findings}
    if unknown := [one for one in ids if one not in by_id]:
        known = ", ".join(f"{one.id} ({one.kind})" for one in able) or "none"
        raise Unusable(f"--finding {unknown[0]}: no such finding here. With a proposed change: {known}.")
    if helpless := [one for one in ids if by_id[one].patch is None]:
        raise Unusable(f"--finding {helpless[0]}: {by_id[helpless[0]].title}. Only a person can tell what mends that.")
    chosen = [one for one in able if not ids or one.id in ids]
    if not chosen:
        raise Unusable("no finding here proposes a change, so there is nothing to write.")
    return chosen


def _differences(patches: Sequence[Patch], bases: Mapping[Target, Path], out: Path) -> dict[Target, str]:
    """What would change in each file in force, as a unified diff."""
    from otel_toolerrors.analysis.apply import FILES, ApplyError, proposed

    try:
        texts = proposed(patches, bases=bases)
    except ApplyError as error:
        raise Unusable(str(error)) from error
    return {
        target: "".join(
            unified_diff(
                bases[target].read_text(encoding="utf-8").splitlines(keepends=True) if target in bases else [],
                text.splitlines(keepends=True),
                str(bases.get(target, "/dev/null")),
                str(out / FILES[target]),
            )
        )
        for target, text in texts.items()
    }


def _show(screen: Screen, diff: str) -> None:
    for line in diff.splitlines():
        screen.say(line, _COLOURS.get(line[:1], ""))


def _files(targets: Iterable[Target], out: Path) -> list[Path]:
    from otel_toolerrors.analysis.apply import FILES

    return [out / FILES[target] for target in targets]


def _names(files: Sequence[Path]) -> str:
    return ", ".join(map(str, files))


def _written(
    patches: Sequence[Patch], bases: Mapping[Target, Path], out: Path, *, overwrite: bool
) -> dict[Target, Path]:
    from otel_toolerrors.analysis.apply import FILES, ApplyError, apply as write

    try:
        paths = write(patches, out, bases=bases, overwrite=overwrite)
    except (ApplyError, OSError) as error:
        raise Unusable(str(error)) from error
    return {target: path for target, name in FILES.items() for path in paths if path.name == name}


def _how_to_try(target: Target, traces: str, file: Path, base: Path | None) -> str:
    against = f" --against {base}" if base else ""
    return {
        "policy": f"toolerrors replay {traces} --policy {file}{against}",
        "rules": f'toolerrors classify --rules {file} < traceback.txt; RecoveryLayer(rules=load_rules("{file}"))',
        "catalog": f'RecoveryLayer(catalog=load_catalog("{file}")); then compare the runs before and after',
    }[target]
