"""What would have happened under another policy: the production engine, run over recorded calls in virtual time.

Each call begins as long after the one before it in its run as it was recorded to,
but never earlier than it was: where a call now takes longer, what the run does
next moves with it. Until then, every first attempt meets the moment that the trace
knows about; after that, what the trace and the outage model say of its service at
the new one. All runs of a process share its breakers, budgets and pacing.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

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
from .measures import Replayed, Score, Tally, summary
from .outages import Bracket, Outages
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
        replicas: How often the modelled part is drawn. Another draw would fall in the intervals nine times in ten;
            of fewer than 19 they hold less (see their ``level``).
        seed: The same seed gives the same answer.
    """
    return Replayer.of(record(traces), seed).replay(policy, replicas)


@dataclass(frozen=True, slots=True)
class Script:
    """One recorded call, and what its attempts meet: the same under every policy."""

    recorded: RecordedCall
    bracket: Bracket | None
    """None: it never failed."""
    worked: Answer
    failing: float
    """Seconds that an attempt takes that fails."""
    known: bool
    """Whether it was made at all, or rejected before the first attempt."""


class Replayer:
    """Recorded calls, ready to be made again under one policy after another."""

    def __init__(self, scripts: list[Script], declared: dict[str, Declaration], outages: Outages, seed: int) -> None:
        self.scripts = scripts
        self.declared = declared
        self.outages = outages
        self.seed = seed
        self._before = _before(scripts)

    @classmethod
    def of(cls, recording: Recording, seed: int = 0) -> Self:
        """Prepare a recording, and fit the outage model to it."""
        outages = Outages(recording, seed)
        usual = _usual_seconds(recording)
        scripts = [_script(call, outages.brackets.get(call.span_id), usual) for call in recording.calls]
        return cls(scripts, recording.declared, outages, seed)

    def only(self, keep: Callable[[RecordedCall], bool]) -> Replayer:
        """The same with some of the calls; what the outage model knows of the others stays."""
        return Replayer([one for one in self.scripts if keep(one.recorded)], self.declared, self.outages, self.seed)

    def tally(self, policy: Policy, replica: int) -> Tally:
        """Replay once."""
        world = _World(self, policy, replica)
        jobs = [_Job(world, script) for script in self.scripts]
        first: list[_Job] = []
        for job, before in zip(jobs, self._before, strict=True):
            (first if before is None else jobs[before].followers).append(job)
        run(first)
        return world.tally

    def replay(self, policy: Policy, replicas: int = REPLICAS) -> Replayed:
        """Replay several times, and put the replicas together."""
        return summary([self.tally(policy, replica).measures() for replica in range(replicas)])


def _script(call: RecordedCall, bracket: Bracket | None, usual: dict[str, float]) -> Script:
    """Attempts take as long as they did in this call, else as the tool's usually do."""
    own = call.own()
    worked = next((one.duration for one in reversed(own) if one.fault is None), usual.get(call.tool, 0.0))
    failing = next((one.duration for one in reversed(own) if one.fault is not None), worked)
    return Script(call, bracket, Answer(worked), failing, bool(own))


def _before(scripts: list[Script]) -> list[int | None]:
    """The place of the call that each waits for: in its run, the last to end before it began."""
    ended: dict[str, list[tuple[float, int]]] = {}
    before: list[int | None] = []
    for place, script in enumerate(scripts):
        earlier = ended.setdefault(script.recorded.run, [])
        done = bisect_right(earlier, (script.recorded.start, place))
        before.append(earlier[done - 1][1] if done else None)
        insort(earlier, (script.recorded.end, place))
    return before


def _usual_seconds(recording: Recording) -> dict[str, float]:
    """How long a tool's attempts take that work: the median."""
    seconds: dict[str, list[float]] = {}
    for call in recording.calls:
        for one in call.tries:
            if one.fault is None:
                seconds.setdefault(one.tool, []).append(one.duration)
    return {tool: sorted(values)[len(values) // 2] for tool, values in seconds.items()}


class _World:
    """What the jobs of one replica share."""

    def __init__(self, replayer: Replayer, policy: Policy, replica: int) -> None:
        self.outages = replayer.outages
        self.recoveries = replayer.outages.recoveries(replica)
        self.tally = Tally()
        self._declared = replayer.declared
        self._policy = policy
        self._seed = (replayer.seed, replica)
        self._fleets: dict[str, tuple[Services, ResultCache]] = {}
        self._runs: dict[str, Surroundings] = {}
        self._rules: dict[tuple[str, str], ToolRules] = {}

    def rules(self, tool: str, source: str) -> ToolRules:
        found = self._rules.get((tool, source))
        if found is None:
            found = resolve(self._policy, tool, self._declared.get(tool, Declaration()), source)
            self._rules[tool, source] = found
        return found

    def around(self, call: RecordedCall) -> Surroundings:
        found = self._runs.get(call.run)
        if found is None:
            services, cache = self._fleets.setdefault(call.fleet, (Services(self._policy), ResultCache()))
            rules_for = partial(self.rules, source="fallback")
            random = seeded(*self._seed, call.run)  # by run, so that two policies meet the same jitter
            found = Surroundings(RunState(self._policy.run), services, random, rules_for, cache)
            self._runs[call.run] = found
        return found


class _Job:
    """One recorded call, made again."""

    __slots__ = ("_score", "_script", "_world", "followers", "start")

    def __init__(self, world: _World, script: Script) -> None:
        self.start = script.recorded.start
        self.followers: list[_Job] = []
        self._world = world
        self._script = script
        self._score = Score(world.tally, script.recorded)

    def climb(self) -> Climb:
        call, world = self._script.recorded, self._world
        rules = world.rules(call.tool, call.source)
        return climb(call.call(rules, world.around(call), self.start, self._event))

    def attempt(self, attempt: Attempt, now: float) -> Answer:
        answer, exact = self._answer(attempt, now)
        if answer.fault is not None and answer.fault.effects != attempt.effects:
            # Whether a repeat is safe goes by what the policy declares, as in production.
            answer = replace(answer, fault=replace(answer.fault, effects=attempt.effects))
        if attempt.timeout is not None and answer.seconds > attempt.timeout:
            answer = Answer(attempt.timeout, _timed_out(attempt))
        self._score.attempt(attempt, answer.fault, now + answer.seconds, exact=exact)
        return answer

    def refresh(self, refresh: Refresh, _now: float) -> Answer:
        return Answer(0.0, None if self._script.recorded.refreshed else _unrenewed(refresh))

    def decided(self, decision: Decision, now: float) -> Iterable[Job]:
        self._score.decided(decision, self.start, now)
        for follower in self.followers:
            follower.start += max(0.0, now - self._script.recorded.end)
        return self.followers

    def _event(self, event: Event) -> None:
        if isinstance(event, BreakerRejected):
            self._score.rejections += 1

    def _answer(self, attempt: Attempt, now: float) -> tuple[Answer, bool]:
        """What the attempt meets, and whether the trace says so."""
        script, bracket = self._script, self._script.bracket
        if attempt.tool != script.recorded.tool:
            return self._stand_in(attempt)
        moved = self.start > script.recorded.start
        if moved:
            bracket = self._world.outages.around(script.recorded.service, now) or bracket
        if bracket is None:
            return script.worked, script.known and not moved
        told = not bracket.failed < now < bracket.well
        fails = now <= bracket.failed if told else now < self._world.recoveries[bracket.spell]
        return Answer(script.failing, bracket.fault) if fails else script.worked, told

    def _stand_in(self, attempt: Attempt) -> tuple[Answer, bool]:
        """A fallback does what it did for this call; if it was not asked then, it is taken to work."""
        for one in reversed(self._script.recorded.tries):
            if one.tool == attempt.tool:
                return Answer(one.duration, one.fault), True
        return Answer(self._script.worked.seconds), False


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
