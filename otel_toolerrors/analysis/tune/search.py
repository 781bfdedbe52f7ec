"""The search: service by service, one number at a time, from more than one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otel_toolerrors.analysis.patch import Change
from otel_toolerrors.analysis.replay import Measures, RecordedCall, Replayer, mean_of
from otel_toolerrors.policy import Policy

from .knobs import Knob, Panel, changed
from .objective import Objective

Settings = dict[tuple[str, ...], float]
"""The numbers that differ from the policy in force, by path."""

_REPLICAS = 2
_PASSES = 3
_LEAST_GAIN = 0.01
"""Share of a service's loss that a change must save to be worth a line in the policy."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Settings that were tried, and what the calls around the service made of them."""

    settings: Settings
    measures: Measures


class Search:
    """Looks for the best settings of one service and its tools."""

    def __init__(self, replayer: Replayer, panel: Panel, base: Policy, goal: Objective) -> None:
        self._replayer = replayer.only(_concerned(replayer, panel.service))
        self._panel = panel
        self._base = base
        self._goal = goal
        self._known: dict[frozenset[tuple[tuple[str, ...], float]], Tried] = {}
        self._in_force = {knob.path: knob.read(base) for knob in panel.knobs}

    @property
    def tried(self) -> int:
        """How many settings were replayed."""
        return len(self._known)

    def best(self, goal: Objective | None = None) -> Settings:
        """The settings with the smallest loss among those tried (under another objective, if one is given)."""
        goal = goal or self._goal
        return min(self._known.values(), key=lambda tried: (goal.loss(tried.measures), len(tried.settings))).settings

    def run(self) -> Settings:
        """Search, and give the best settings that were found."""
        for start in ({}, self._panel.patient()):
            self._descend(start)
        return self._pruned(self.best())

    def _descend(self, start: Settings) -> None:
        here = self._try(start)
        for _ in range(_PASSES):
            before = here
            for knob in self._panel.knobs:
                here = self._moved(knob, here)
            if here is before:
                return

    def _moved(self, knob: Knob, here: Tried) -> Tried:
        tried = [self._try({**here.settings, knob.path: value}) for value in knob.values]
        best = min(tried, key=lambda one: self._goal.loss(one.measures))
        return best if self._goal.loss(here.measures) - self._goal.loss(best.measures) > self._least else here

    def _pruned(self, settings: Settings) -> Settings:
        """Take back what does not matter, the last one first."""
        kept = dict(settings)
        for path in reversed(list(settings)):
            without = {other: value for other, value in kept.items() if other != path}
            if self._goal.loss(self._try(without).measures) - self._goal.loss(self._try(kept).measures) <= self._least:
                kept = without
        return kept

    @property
    def _least(self) -> float:
        return _LEAST_GAIN * max(1.0, self._goal.loss(self._try({}).measures))

    def _try(self, settings: Settings) -> Tried:
        own = {path: value for path, value in settings.items() if value != self._in_force[path]}
        key = frozenset(own.items())
        if key not in self._known:
            policy = changed(self._base, [Change(path, value) for path, value in own.items()])
            measures = mean_of(self._replayer.tally(policy, replica).measures() for replica in range(_REPLICAS))
            self._known[key] = Tried(own, measures)
        return self._known[key]


def _concerned(replayer: Replayer, service: str) -> Callable[[RecordedCall], bool]:
    """Calls that a service's numbers touch: its own, and all calls of the runs in which it failed."""
    hurt = (one.recorded for one in replayer.scripts if one.bracket is not None)
    runs = {call.run for call in hurt if call.service == service}
    return lambda call: call.service == service or call.run in runs
