"""A call without a layer: a policy, a run, a service, a scripted tool, and everything that is told."""

import asyncio
from random import Random

from otel_toolerrors.engine import (
    AsyncHands,
    Call,
    Hands,
    ResultCache,
    RunState,
    Services,
    Surroundings,
    SyncHands,
    amake,
    make,
)
from otel_toolerrors.faults import classify, is_control_flow
from otel_toolerrors.policy import Declaration, resolve
from otel_toolerrors.testing import steady

BAD = "in-band"


class Witness:
    """An observer that writes down what it is told."""

    def __init__(self):
        self.told = []
        self.now = 0.0

    def sleep(self, seconds):
        self.now += seconds

    def attempt_started(self, tool, number):
        self.told.append(("started", tool, number))

    def attempt_ended(self, fault):
        self.told.append(("ended", fault and fault.code))

    def event(self, event):
        self.told.append(event)


def sync(call, hands, tool, witness):
    """Drive a call, blocking."""
    return make(call, hands, SyncHands(tool, witness.sleep, lambda _credential: True), witness)


def asynchronous(call, hands, tool, witness):
    """Drive a call in a loop of its own."""

    async def acall(attempt):
        return tool(attempt)

    async def asleep(seconds):
        witness.sleep(seconds)

    async def refresh(_credential):
        return True

    return asyncio.run(amake(call, hands, AsyncHands(acall, asleep, refresh), witness))


DRIVERS = [sync, asynchronous]


class Setting:
    """A policy, a run and a service, and hands that call a scripted tool."""

    def __init__(self, *acts, policy=None, source="main_agent", **declared):
        self.policy = policy or steady(max_attempts=4)
        self.rules = resolve(self.policy, "search", Declaration(effects="read", **declared), source)
        self.run = RunState(self.policy.run)
        self.around = Surroundings(self.run, Services(self.policy), Random(1), lambda _tool: None, ResultCache())
        self.witness = Witness()
        self.hands = Hands(lambda: self.witness.now, self._judge, self._inspect, is_control_flow)
        self.events, self._acts = [], iter(acts)

    def call(self, drive):
        call = Call(
            "search",
            {},
            rules=self.rules,
            around=self.around,
            now=self.witness.now,
            emit=self.events.append,
            target="t1",
        )
        return drive(call, self.hands, self._tool, self.witness)

    def _tool(self, _attempt):
        act = next(self._acts)
        if isinstance(act, Exception):
            raise act
        return act

    @staticmethod
    def _judge(attempt, error):
        return classify(error, effects=attempt.effects)

    @staticmethod
    def _inspect(attempt, value):
        return classify(ConnectionResetError(104, "reset"), effects=attempt.effects) if value == BAD else None

    def of(self, kind):
        """List the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]
