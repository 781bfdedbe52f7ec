"""Virtual time: many climbs of the production engine, interleaved on one clock.

A small discrete-event scheduler. Replay answers the attempts from traces, a
simulation from a fault model; the engine between them is the one that agents run.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from otel_toolerrors.engine import Action, Attempt, Climb, Decision, Done, Failed, Refresh, Reply, Sleep, Succeeded
from otel_toolerrors.faults import Fault


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes of one attempt."""

    seconds: float
    fault: Fault | None = None
    value: Any = None


class Job(Protocol):
    """One logical call in virtual time."""

    start: float

    def climb(self) -> Climb:
        """Begin it, at its start."""

    def attempt(self, attempt: Attempt, now: float) -> Answer:
        """Tell what comes of an attempt that is made now."""

    def refresh(self, refresh: Refresh, _now: float) -> Answer:
        """Tell what comes of refreshing a credential now: a fault, if it does not work."""

    def decided(self, decision: Decision, now: float) -> Iterable[Job]:
        """Take the decision; give what begins because of it, from now on."""


def run(jobs: Iterable[Job]) -> None:
    """Run the jobs to their end, each step at its moment; of two at one moment, the one that was planned first."""
    queue: list[tuple[float, int, Job, Climb | None, Reply | None]] = []
    planned = 0

    def plan(at: float, job: Job, climb: Climb | None = None, reply: Reply | None = None) -> None:
        nonlocal planned
        planned += 1
        heapq.heappush(queue, (at, planned, job, climb, reply))

    for job in jobs:
        plan(job.start, job)
    while queue:
        now, _, job, climb, reply = heapq.heappop(queue)
        if climb is None:
            climb = job.climb()
        try:
            action = next(climb) if reply is None else climb.send(reply)
        except StopIteration as end:
            for follower in job.decided(end.value, now):
                plan(max(now, follower.start), follower)
        else:
            answered = _answer(job, action, now)
            plan(answered.now, job, climb, answered)


def _answer(job: Job, action: Action, now: float) -> Reply:
    match action:
        case Attempt():
            answer = job.attempt(action, now)
            at = now + answer.seconds
            return Succeeded(at, answer.value) if answer.fault is None else Failed(at, answer.fault)
        case Sleep():
            return Done(now + action.seconds)
        case Refresh():
            answer = job.refresh(action, now)
            return Done(now + answer.seconds, answer.fault is None)
