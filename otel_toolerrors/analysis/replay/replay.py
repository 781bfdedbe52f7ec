"""What would have happened under another policy: the production engine, run over recorded calls in virtual time.

Each call begins when it was recorded to begin, also where the one before it now
ends earlier or later, so that every first attempt meets the moment that the
trace knows about. All runs of a process share its breakers, budgets and pacing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from otel_toolerrors.analysis.statistics import seeded
from otel_toolerrors.engine import (
    Attempt,
    Climb,
    Decision,
    Refresh,
    ResultCache,
    RunState,
    Services,
    Surroundings,
    climb,
)
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Declaration, Policy, ToolRules, resolve
from otel_toolerrors.vocabulary import BreakerRejected, Event

from .clockwork import Answer, Job, run
from .measures import Measures, Replayed, Tally, summary
from .outages import Outages
from .recorded import RecordedCall, Recording, record

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

REPLICAS = 20
"""Replicas of the modelled part; the tuner uses fewer while it searches."""


def replay(traces: Traces, policy: Policy, *, replicas: int = REPLICAS, seed: int = 0) -> Replayed:
    """Tell what would have happened under ``policy``.

    Exact where the trace holds the answer; where it does not, outcomes are drawn from an outage model
    fitted to the traces (see ``outages``), and counted as modelled.

    Args:
        traces: What was recorded, under whatever policy.
        policy: The policy to try.
        replicas: How often the modelled part is drawn; intervals hold nine tenths of the replicas.
        seed: The same seed gives the same answer.
    """
    recording = record(traces)
    return replay_recording(recording, policy, Outages(recording, seed), replicas=replicas, seed=seed)


def replay_recording(
    recording: Recording, policy: Policy, outages: Outages, *, replicas: int = REPLICAS, seed: int = 0
) -> Replayed:
    """Replay calls that have been read already, with the draws of ``outages``."""
    return summary([measure(recording, policy, outages, replica, seed) for replica in range(replicas)])


def measure(recording: Recording, policy: Policy, outages: Outages, replica: int, seed: int = 0) -> Measures:
    """One replica of a replay."""
    world = _World(recording, policy, outages, replica, seed)
    run(world.jobs())
    return world.tally.measures()


class _World:
    """What the jobs of one replica share."""

    def __init__(self, recording: Recording, policy: Policy, outages: Outages, replica: int, seed: int) -> None:
        self.outages = outages
        self.recoveries = outages.recoveries(replica)
        self.tally = Tally()
        self._recording = recording
        self._policy = policy
        self._seed = f"{seed} {replica}"
        self._fleets: dict[str, tuple[Services, ResultCache]] = {}
        self._runs: dict[str, RunState] = {}
        self._rules: dict[tuple[str, str], ToolRules] = {}
        self._usual = _usual_seconds(recording)

    def jobs(self) -> Iterable[Job]:
        return [_Job(self, call) for call in self._recording.calls]

    def rules(self, tool: str, source: str) -> ToolRules:
        found = self._rules.get((tool, source))
        if found is None:
            declared = self._recording.declared.get(tool, Declaration())
            found = self._rules[tool, source] = resolve(self._policy, tool, declared, source)
        return found

    def around(self, call: RecordedCall) -> Surroundings:
        services, cache = self._fleets.setdefault(call.fleet, (Services(self._policy), ResultCache()))
        state = self._runs.setdefault(call.run, RunState(self._policy.run))
        rules_for = partial(self.rules, source="fallback")
        return Surroundings(state, services, seeded(self._seed, call.span_id), rules_for, cache)

    def usual_seconds(self, tool: str) -> float:
        """How long an attempt of the tool that works takes: the median."""
        return self._usual.get(tool, 0.0)


class _Job:
    """One recorded call, made again."""

    def __init__(self, world: _World, call: RecordedCall) -> None:
        self.start = call.start
        self._world = world
        self._call = call
        self._score = world.tally.begin(call)

    def climb(self) -> Climb:
        rules = self._world.rules(self._call.tool, self._call.source)
        return climb(self._call.call(), rules, self._world.around(self._call), self.start, self._event)

    def attempt(self, attempt: Attempt, now: float) -> Answer:
        answer, exact = self._answer(attempt, now)
        if attempt.timeout is not None and answer.seconds > attempt.timeout:
            answer = Answer(attempt.timeout, _timed_out(attempt))
        self._score.attempt(attempt, answer.fault, now + answer.seconds, exact=exact)
        return answer

    def refresh(self, refresh: Refresh, _now: float) -> Answer:
        return Answer(0.0, None if self._call.refreshed else _unrenewed(refresh))

    def decided(self, decision: Decision, now: float) -> Iterable[Job]:
        self._score.decided(decision, now)
        return ()

    def _event(self, event: Event) -> None:
        if isinstance(event, BreakerRejected):
            self._score.rejected()

    def _answer(self, attempt: Attempt, now: float) -> tuple[Answer, bool]:
        """What the attempt meets, and whether the trace says so."""
        call = self._call
        if attempt.tool != call.tool:
            return self._stand_in(attempt)
        bracket = self._world.outages.brackets.get(call.span_id)
        if bracket is None:  # it never failed
            return Answer(self._seconds(None)), bool(call.own())
        if now <= bracket.failed:
            return Answer(self._seconds(bracket.fault), bracket.fault), True
        if now >= bracket.well:
            return Answer(self._seconds(None)), True
        if now >= self._world.recoveries[call.span_id]:
            return Answer(self._seconds(None)), False
        return Answer(self._seconds(bracket.fault), bracket.fault), False

    def _stand_in(self, attempt: Attempt) -> tuple[Answer, bool]:
        """A fallback does what it did for this call; if it was not asked then, it is taken to work."""
        seen = next((one for one in reversed(self._call.tries) if one.tool == attempt.tool), None)
        if seen is None:
            return Answer(self._world.usual_seconds(attempt.tool)), False
        return Answer(seen.duration, seen.fault), True

    def _seconds(self, fault: Fault | None) -> float:
        """How long an attempt with this result takes: as it did in this call, else as it usually does."""
        like = [one.duration for one in self._call.own() if (one.fault is None) == (fault is None)]
        return like[-1] if like else self._world.usual_seconds(self._call.tool) if fault is None else 0.0


def _usual_seconds(recording: Recording) -> dict[str, float]:
    seconds: dict[str, list[float]] = {}
    for call in recording.calls:
        for one in call.tries:
            if one.fault is None:
                seconds.setdefault(one.tool, []).append(one.duration)
    return {tool: sorted(values)[len(values) // 2] for tool, values in seconds.items()}


def _timed_out(attempt: Attempt) -> Fault:
    return Fault(
        category="transient", code="timeout", passing=True, side_effects="unknown", effects=attempt.effects,
        message="the attempt took longer than attempt_timeout", fingerprint="attempt_timeout",
    )  # fmt: skip


def _unrenewed(refresh: Refresh) -> Fault:
    return Fault(
        category="permission", code="credential.refresh", passing=False, side_effects="none", effects="read",
        message=f"the credential {refresh.credential} was not renewed", fingerprint="credential.refresh",
    )  # fmt: skip
