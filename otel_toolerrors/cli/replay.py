"""``toolerrors replay``: what would have happened under another policy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .analyze import FormatOption
from .codes import ExitCode
from .policy import read_policy
from .screen import Screen
from .traces import DEFAULT_PATH, DatabaseOption, TracesPath, opened, quarantine, tell_quarantined
from .tune import MEASURES

if TYPE_CHECKING:
    from otel_toolerrors.analysis.replay import Replayed


def replay(
    path: TracesPath = DEFAULT_PATH,
    *,
    policy: Annotated[Path, typer.Option(help="The policy file to try.")],
    against: Annotated[Path | None, typer.Option(help="The policy to compare with; default: the defaults.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    database: DatabaseOption = None,
    format_: FormatOption = "table",
) -> None:
    """Say what would have happened under another policy.

    The traces are replayed under a policy file, and compared with another policy.
    """
    screen, notes = Screen(), Screen(sys.stderr)
    policies = read_policy(against), read_policy(policy)
    with opened(path, database) as traces:
        with notes.progress("Replaying") as tell:
            before: Replayed = traces.replay(policies[0], seed=seed)
            tell(0.5)
            after: Replayed = traces.replay(policies[1], seed=seed)
        left_out = quarantine(traces)
    if format_ == "json":
        screen.json({"against": as_json(before), "policy": as_json(after)})
        raise typer.Exit(ExitCode.QUARANTINED if left_out else ExitCode.DONE)
    rows = [(label, _cell(before, name), _cell(after, name)) for name, label in MEASURES.items()]
    columns = ["", str(against or "the defaults"), str(policy)]
    screen.table(columns, rows, right=columns[1:])
    screen.say(
        f"{after.calls:.0f} calls. Under {policy}, {after.modelled:.0%} of them have an answer that is modelled: "
        "the traces do not hold it. Ranges are to hold the truth nine times in ten."
    )
    if before.intervals == after.intervals:
        screen.say(
            "No difference. Replay judges retries, breakers and budgets; what the model is told, it cannot judge."
        )
    raise typer.Exit(tell_quarantined(screen, left_out))


def as_json(replayed: Replayed) -> dict[str, Any]:
    """Give the measures with their ranges, as JSON can hold them."""
    ranges = {name: {"value": one.value, "low": one.low, "high": one.high} for name, one in replayed.intervals.items()}
    return {"calls": replayed.calls, "modelled": replayed.modelled, **{name: ranges[name] for name in MEASURES}}


def _cell(replayed: Replayed, name: str) -> str:
    one = replayed.intervals[name]
    spread = "" if one.low == one.high else f" ({one.low:.0f} to {one.high:.0f})"
    return f"{one.value:.1f}{spread}"
