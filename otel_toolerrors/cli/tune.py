"""``toolerrors tune``: a policy file from traces, with the reason for each number."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .analyze import FormatOption
from .codes import ExitCode, Unusable
from .policy import read_policy
from .screen import Screen
from .traces import DEFAULT_PATH, TracesPath, opened, quarantine, tell_quarantined

if TYPE_CHECKING:
    from otel_toolerrors.analysis.tune import Comparison, Tuned

_PATIENCE = 50.0
"""The objective's own weight of waiting, the other way round."""

MEASURES = {
    "failed": "failed calls",
    "cut_off": "calls never made: the run had stopped",
    "recovered": "recovered calls",
    "wasted_attempts": "wasted attempts",
    "sick_attempts": "attempts on a sick service",
    "added_latency": "added latency, s",
    "duplicate_risk": "repeats that may write twice",
}
"""What a replay measures, and how it is called on the screen."""


def tune(
    path: TracesPath = DEFAULT_PATH,
    *,
    policy: Annotated[
        Path | None, typer.Option(help="The policy that the traces were made under; default: none.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the policy file.")] = Path("toolerrors.tuned.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite that file.")] = False,
    patience: Annotated[
        float, typer.Option(min=1, help="Seconds of waiting that are as bad as one failed call.")
    ] = _PATIENCE,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    format_: FormatOption = "table",
) -> None:
    """Search for a better policy, and write it as a file.

    The traces are replayed through the engine.
    """
    screen, notes = Screen(), Screen(sys.stderr)
    if out.exists() and not force:
        raise Unusable(f"{out}: exists. Name another file with --out, or overwrite it with --force.")
    base = read_policy(policy)
    with opened(path) as traces:
        from otel_toolerrors.analysis.tune import Objective

        goal = Objective(added_latency=1 / patience)
        with notes.progress("Replaying the traces under other policies") as progress:
            tuned: Tuned = traces.tune(policy=base, objective=goal, seed=seed, progress=progress)
        left_out = quarantine(traces)
    if force:
        out.unlink(missing_ok=True)
    tuned.write(out)
    if format_ == "json":
        screen.json(as_json(tuned, out))
        code = ExitCode.QUARANTINED if left_out else ExitCode.DONE
    else:
        show_tuned(screen, tuned)
        screen.say(f"Written to {out}. What it sets: toolerrors policy explain --policy {out}")
        code = tell_quarantined(screen, left_out)
    raise typer.Exit(code)


def show_tuned(screen: Screen, tuned: Tuned) -> None:
    """Print what a tuned policy changes, why, and what the runs that the search has not seen say to it."""
    held = tuned.held_out
    screen.title(f"Replayed on {held.runs} later runs that the search has not seen")
    rows = [(label, *_pair(held, name)) for name, label in MEASURES.items()]
    screen.table(["", "before", "tuned"], rows, right=["before", "tuned"])
    screen.say(
        f"{held.after.modelled:.0%} of the calls have an answer that is modelled; the others stand in the traces."
    )
    if tuned.price is not None:
        screen.say(f"Each failed call fewer costs {tuned.price:.0f} s of waiting.")
    if not tuned.changes:
        screen.say("No change is supported by these traces.")
        return
    show_front(screen, tuned)
    screen.title("Changes")
    changes = [(".".join(change.path), change.value, change.reason) for change in tuned.changes]
    screen.table(["key", "value", "why"], changes, right=["value"])
    if tuned.refused:
        screen.title("Proposed by the search, and refused")
        refused = [(".".join(one.change.path), one.change.value, one.why) for one in tuned.refused]
        screen.table(["key", "value", "why not"], refused, right=["value"])


def show_front(screen: Screen, tuned: Tuned) -> None:
    """Print what other weights would choose, and which of it nothing beats."""
    screen.title("What other weights would choose, on the same later runs")
    rows = [
        (
            one.name, f"{one.measures.failed + one.measures.cut_off:.1f}", f"{one.measures.added_latency:.1f}",
            f"{one.measures.wasted_attempts:.1f}", "" if one in tuned.front else "beaten",
        )
        for one in sorted(tuned.candidates, key=lambda one: one.measures.added_latency)
    ]  # fmt: skip
    columns = ["", "failed and cut-off calls", "added latency, s", "wasted attempts", " "]
    screen.table(columns, rows, right=columns[1:4])
    screen.say("To weigh waiting otherwise: --patience, the seconds that are as bad as one failed call.")


def as_json(tuned: Tuned, written: Path) -> dict[str, Any]:
    """Give the same as JSON can hold it."""
    return {
        "written": str(written),
        "toml": tuned.toml(),
        "changes": [{"path": list(one.path), "value": one.value, "reason": one.reason} for one in tuned.changes],
        "refused": [
            {"path": list(one.change.path), "value": one.change.value, "why": one.why} for one in tuned.refused
        ],
        "candidates": [
            {"name": one.name, "front": one in tuned.front} | {name: getattr(one.measures, name) for name in MEASURES}
            for one in tuned.candidates
        ],
        "held_out": {
            "runs": tuned.held_out.runs,
            "modelled": tuned.held_out.after.modelled,
            "before": {name: getattr(tuned.held_out.before, name) for name in MEASURES},
            "after": {name: getattr(tuned.held_out.after, name) for name in MEASURES},
        },
    }


def _pair(compared: Comparison, name: str) -> tuple[str, str]:
    return f"{getattr(compared.before, name):.1f}", f"{getattr(compared.after, name):.1f}"
