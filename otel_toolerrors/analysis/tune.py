"""A better policy, searched by replay and checked on traces that the search has not seen.

The runs are split by time. On the earlier ones each number is moved along its grid,
one at a time, and the value with the smallest loss is kept. On the later ones each
change has to earn its place: the tuned policy without it must be worse. What does
not is refused, and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otel_toolerrors.policy import Policy

from .patch import Change, comment, document, render
from .replay import Measures, Outages, Recording, Replayed, measure, record, replay_recording

if TYPE_CHECKING:
    from .traces import Traces

_SEARCH_REPLICAS = 3
_CHECK_REPLICAS = 20
_PASSES = 2
_FEWEST_FAULTS = 5
"""Calls that must have met a passing fault before a tool's numbers are touched."""
_LEAST_GAIN = 0.005
"""Share of the loss that a change must save to be worth a line in the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What a policy is to keep small: each measure times its weight, added up.

    The unit is one failed call. The defaults say: waiting 100 s, or ten attempts on a sick service, is as bad as
    one failed call, and nothing is worth writing twice.
    """

    failed: float = 1.0
    cut_off: float = 1.0
    wasted_attempts: float = 0.05
    sick_attempts: float = 0.1
    added_latency: float = 0.01
    duplicate_risk: float = 100.0

    def loss(self, measures: Measures) -> float:
        """The weighted sum."""
        return float(sum(weight * getattr(measures, name) for name, weight in asdict(self).items()))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that the search proposed and the held-out runs did not support."""

    change: Change
    why: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One policy that the search tried, on the runs it was fitted to."""

    changes: tuple[Change, ...]
    measures: Measures
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Before and after, on one part of the runs."""

    runs: int
    before: Replayed
    after: Replayed


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """A proposed policy, and what speaks for it."""

    base: Policy
    changes: tuple[Change, ...]
    refused: tuple[Refusal, ...]
    fit: Comparison
    held_out: Comparison
    trials: tuple[Trial, ...] = field(repr=False)

    @property
    def policy(self) -> Policy:
        """The base policy with the changes."""
        return changed(self.base, self.changes)

    def toml(self) -> str:
        """The policy file, with the reason above each number."""
        base = [Change(path, value) for path, value in _leaves(self.base.model_dump(exclude_unset=True))]
        own = {change.path for change in self.changes}
        kept = [change for change in base if change.path not in own]
        return f"{comment(self._headline())}\n\n{render([*kept, *self.changes])}"

    def write(self, path: str | Path) -> Path:
        """Write the policy file, and give its path. An existing file is not overwritten.

        Raises:
            FileExistsError: There is a file already.
        """
        target = Path(path)
        with target.open("x", encoding="utf-8") as file:
            file.write(self.toml())
        return target

    def front(self) -> list[Trial]:
        """The trials that no other beats in failed calls, added latency and load on a sick service at once."""
        return _front(self.trials)

    def _headline(self) -> str:
        held = self.held_out
        if not self.changes:
            return f"Tuned by replay: no change is supported by the {held.runs} held-out runs."
        return (
            f"Tuned by replay on {self.fit.runs} runs, checked on {held.runs} later ones: failed and cut-off calls "
            f"{held.before.failed + held.before.cut_off:.1f} -> {held.after.failed + held.after.cut_off:.1f}, "
            f"wasted attempts {held.before.wasted_attempts:.1f} -> {held.after.wasted_attempts:.1f}, "
            f"added latency {held.before.added_latency:.0f} s -> {held.after.added_latency:.0f} s "
            f"({held.after.modelled:.0%} of the calls modelled)."
        )


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

    Args:
        traces: What was recorded.
        policy: Where the search begins; normally the one in force.
        objective: What to keep small.
        held_out: Share of the runs, the latest, that the search does not see.
        seed: The same seed gives the same answer.
        progress: Told of the share of the work that is done.
    """
    recording = record(traces)
    runs = recording.runs()
    early = max(1, round(len(runs) * (1 - held_out)))
    fit, later = recording.only(set(runs[:early])), recording.only(set(runs[early:]))
    goal, base = objective or Objective(), policy or Policy()
    search = _Search(fit, base, goal, seed, progress or _silent)
    proposed = search.run()
    # The curves of the later runs are fitted to all runs: outages are rare, and the split must not decide which we know.
    outages = Outages(later, seed, evidence=recording)
    changes, refused = _supported(later, outages, base, proposed, goal, seed)
    return Tuned(
        base=base, changes=tuple(changes), refused=tuple(refused), trials=tuple(search.trials),
        fit=_compare(fit, search.outages, base, changes, seed), held_out=_compare(later, outages, base, changes, seed),
    )  # fmt: skip


def changed(policy: Policy, changes: Iterable[Change]) -> Policy:
    """A policy with some keys set anew."""
    return Policy.model_validate(_overlaid(policy.model_dump(exclude_unset=True), document(changes)))


def _overlaid(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _overlaid(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def _leaves(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        elif value is not None:
            yield (*path, key), value


@dataclass(frozen=True, slots=True)
class _Knob:
    """One number that the search may move."""

    path: tuple[str, ...]
    values: tuple[float, ...]


_RETRY: dict[str, tuple[float, ...]] = {
    "max_attempts": (1, 2, 3, 4, 5, 6, 8, 10),
    "base_delay": (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    "max_delay": (2.0, 8.0, 32.0, 120.0),
    "total_timeout": (30.0, 60.0, 120.0, 300.0, 900.0),
}
_BREAKER: dict[str, tuple[float, ...]] = {
    "minimum_calls": (5, 10, 20),
    "failure_rate": (0.3, 0.5, 0.7, 0.9),
    "cooldown": (2.0, 5.0, 15.0, 30.0, 60.0, 120.0),
}


def _knobs(recording: Recording, outages: Outages) -> list[_Knob]:
    """The numbers for which there is evidence: tools that met passing faults, services that had a sick spell."""
    met: dict[str, int] = {}
    for call in recording.calls:
        bracket = outages.brackets.get(call.span_id)
        if bracket is not None and bracket.fault.passing:
            met[call.tool] = met.get(call.tool, 0) + 1
    tools = sorted(tool for tool, times in met.items() if times >= _FEWEST_FAULTS)
    services = sorted({call.service for call in recording.calls if call.tool in tools} & set(outages.health.spells))
    retry = [_Knob(("tools", tool, "retry", key), grid) for tool in tools for key, grid in _RETRY.items()]
    breaker = [_Knob(("services", name, "breaker", key), grid) for name in services for key, grid in _BREAKER.items()]
    return retry + breaker


class _Search:
    """Moves one number at a time to where the loss on the fitted runs is smallest."""

    def __init__(
        self, recording: Recording, base: Policy, goal: Objective, seed: int, progress: Callable[[float], None]
    ) -> None:
        self.outages = Outages(recording, seed)
        self.trials: list[Trial] = []
        self._recording = recording
        self._base = base
        self._goal = goal
        self._seed = seed
        self._progress = progress

    def run(self) -> list[Change]:
        """The changes that save something, in the order they were found."""
        knobs = _knobs(self._recording, self.outages)
        best: dict[tuple[str, ...], Change] = {}
        now = self._try([])
        least = _LEAST_GAIN * max(now.loss, 1.0)
        for turn in range(_PASSES):
            moved = False
            for place, knob in enumerate(knobs):
                self._progress((turn + place / len(knobs)) / _PASSES)
                trial, change = self._move(knob, best)
                if now.loss - trial.loss > least:
                    best[knob.path] = Change(knob.path, change.value, _saved(now, trial))
                    now, moved = trial, True
            if not moved:
                break
        self._progress(1.0)
        return list(best.values())

    def _move(self, knob: _Knob, best: dict[tuple[str, ...], Change]) -> tuple[Trial, Change]:
        others = [change for path, change in best.items() if path != knob.path]
        tried = ((self._try([*others, change]), change) for change in (Change(knob.path, v) for v in knob.values))
        return min(tried, key=lambda pair: pair[0].loss)

    def _try(self, changes: list[Change]) -> Trial:
        policy = changed(self._base, changes)
        replicas = [measure(self._recording, policy, self.outages, r, self._seed) for r in range(_SEARCH_REPLICAS)]
        mean = sum(map(self._goal.loss, replicas)) / len(replicas)
        trial = Trial(tuple(changes), replicas[0], mean)
        self.trials.append(trial)
        return trial


def _saved(before: Trial, after: Trial) -> str:
    return f"loss {before.loss:.2f} -> {after.loss:.2f} on the fitted runs"


def _supported(
    later: Recording, outages: Outages, base: Policy, proposed: list[Change], goal: Objective, seed: int
) -> tuple[list[Change], list[Refusal]]:
    """Keep the changes without which the tuned policy does worse on runs that the search has not seen."""
    kept, refused = list(proposed), []
    for change in reversed(proposed):
        without = [other for other in kept if other is not change]
        loss_with = _losses(later, outages, changed(base, kept), goal, seed)
        loss_without = _losses(later, outages, changed(base, without), goal, seed)
        gain = (sum(loss_without) - sum(loss_with)) / len(loss_with)
        if gain <= 0:
            kept = without
            refused.append(Refusal(change, f"saves nothing on the held-out runs ({-gain:.2f} worse)"))
        else:
            place = kept.index(change)
            kept[place] = Change(change.path, change.value, f"{change.reason}; saves {gain:.2f} on held-out runs")
    return kept, refused


def _losses(recording: Recording, outages: Outages, policy: Policy, goal: Objective, seed: int) -> list[float]:
    return [goal.loss(measure(recording, policy, outages, replica, seed)) for replica in range(_SEARCH_REPLICAS * 2)]


def _compare(recording: Recording, outages: Outages, base: Policy, changes: list[Change], seed: int) -> Comparison:
    before = replay_recording(recording, base, outages, replicas=_CHECK_REPLICAS, seed=seed)
    after = replay_recording(recording, changed(base, changes), outages, replicas=_CHECK_REPLICAS, seed=seed)
    return Comparison(runs=len(recording.runs()), before=before, after=after)


def _front(trials: Iterable[Trial]) -> list[Trial]:
    def key(trial: Trial) -> tuple[float, float, float]:
        measures = trial.measures
        return measures.failed + measures.cut_off, measures.added_latency, measures.sick_attempts

    ordered = sorted(trials, key=key)
    front: list[Trial] = []
    for trial in ordered:
        if not any(all(a <= b for a, b in zip(key(kept), key(trial), strict=True)) for kept in front):
            front.append(trial)
    return front


def _silent(_share: float) -> None:
    """Tell nobody."""
