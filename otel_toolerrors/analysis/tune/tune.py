"""A better policy, searched by replay and checked on traces that the search has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from otel_toolerrors.analysis.patch import Change
from otel_toolerrors.analysis.replay import Measures, Replayer, record
from otel_toolerrors.policy import Policy

from .check import Check, Gain
from .knobs import changed, panels
from .objective import Objective
from .search import Search, Settings
from .tuned import Candidate, Comparison, Refusal, Tuned

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

_THRIFT = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Other weights of load and waiting, relative to the objective."""


def tune(
    traces: Traces,
    *,
    policy: Policy | None = None,
    objective: Objective | None = None,
    held_out: float = 0.3,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Tuned:
    """Search for a policy that does better on these traces than ``policy`` (the default one if None).

    The runs are split by time. On the earlier ones the numbers of each service and its tools are searched; on the
    later ones each number has to earn its place: without it, the tuned policy must do worse. What does not is
    refused, and the result says so.

    Args:
        traces: What was recorded.
        policy: Where the search begins; normally the one in force.
        objective: What to keep small.
        held_out: Share of the runs, the latest, that the search does not see.
        seed: The same seed gives the same answer.
        progress: Told of the share of the work that is done.
    """
    tell = progress or _nobody
    recording, base, goal = record(traces), policy or Policy(), objective or Objective()
    runs = recording.runs()
    early = set(runs[: round(len(runs) * (1 - held_out))])
    fit = Replayer.of(recording.only(early), seed)
    # The outage model of the check knows all runs: outages are rare, and the split must not decide which it knows.
    later = Replayer.of(recording, seed).only(lambda call: call.run not in early)
    searches = [Search(fit, panel, base, goal) for panel in panels(fit)]
    found: Settings = {}
    for place, search in enumerate(searches):
        tell(place / len(searches))
        found |= search.run()
    check = Check(later, base, goal)
    kept, refused = _supported(check, [Change(path, value) for path, value in found.items()])
    changes = _explained(fit, base, kept)
    tell(1.0)
    return Tuned(
        base=base, changes=changes, refused=refused, fit=_compare(fit, base, changes, len(early)),
        held_out=_compare(later, base, changes, len(runs) - len(early)),
        candidates=_candidates(searches, later, base, goal, changes),
        tried=sum(search.tried for search in searches),
    )  # fmt: skip


def _nobody(_share: float) -> None:
    """Tell nobody."""


def _supported(check: Check, proposed: list[Change]) -> tuple[list[tuple[Change, Gain]], tuple[Refusal, ...]]:
    kept, gains, refused = list(proposed), {}, []
    for change in reversed(proposed):
        gain = check.gain(kept, without=change)
        if gain.supported:
            gains[change.path] = gain
        else:
            kept.remove(change)
            refused.append(
                Refusal(change, f"the held-out runs do not support it: it saves {gain.mean:.2f} of loss there")
            )
    if kept and not (whole := check.gain(kept)).supported:
        refused += [
            Refusal(change, f"together, the changes save {whole.mean:.2f} of loss on held-out runs") for change in kept
        ]
        kept = []
    return [(change, gains[change.path]) for change in kept], tuple(refused)


def _explained(fit: Replayer, base: Policy, kept: Sequence[tuple[Change, Gain]]) -> tuple[Change, ...]:
    """Give each number its reason: what happens without it, all others in place."""
    everything = [change for change, _ in kept]
    with_it = fit.replay(changed(base, everything), _REPLICAS)
    explained = []
    for change, gain in kept:
        others = [other for other in everything if other is not change]
        without = fit.replay(changed(base, others), _REPLICAS)
        held_out = f"saves {gain.mean:.2f} of loss (9 in 10: {gain.low:.2f} or more)"
        reason = f"{_told(without, with_it)}; on held-out runs {held_out}"
        explained.append(Change(change.path, change.value, reason))
    return tuple(explained)


_REPLICAS = 5
_VISIBLE = 0.05
"""A difference that shows in one decimal."""
_TOLD = {
    "failed": "failed calls", "cut_off": "calls cut off", "wasted_attempts": "wasted attempts",
    "sick_attempts": "attempts on a sick service", "added_latency": "seconds added",
}  # fmt: skip


def _told(without: Measures, with_it: Measures) -> str:
    moved = [
        f"{words} {getattr(without, name):.1f} -> {getattr(with_it, name):.1f}"
        for name, words in _TOLD.items()
        if abs(getattr(without, name) - getattr(with_it, name)) >= _VISIBLE
    ]
    return ", ".join(moved) or "no visible difference on the fitted runs"


def _compare(replayer: Replayer, base: Policy, changes: Sequence[Change], runs: int) -> Comparison:
    return Comparison(runs=runs, before=replayer.replay(base), after=replayer.replay(changed(base, changes)))


def _candidates(
    searches: Sequence[Search], later: Replayer, base: Policy, goal: Objective, tuned: tuple[Change, ...]
) -> tuple[Candidate, ...]:
    named: dict[str, tuple[Change, ...]] = {"in force": (), "tuned": tuned}
    for factor in _THRIFT:
        settings: Settings = {}
        for search in searches:
            settings |= search.best(goal.thriftier(factor))
        changes = tuple(Change(path, value) for path, value in settings.items())
        if _settings(changes) not in [_settings(others) for others in named.values()]:
            named[f"load and waiting × {factor:g}"] = changes
    return tuple(
        Candidate(name, changes, later.replay(changed(base, changes), _REPLICAS)) for name, changes in named.items()
    )


def _settings(changes: Sequence[Change]) -> set[tuple[tuple[str, ...], float]]:
    return {(change.path, change.value) for change in changes}
