"""Any sequence of calls keeps the promises of a run."""

from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from otel_toolerrors.policy import BreakerPolicy, Policy
from otel_toolerrors.testing import Bench
from otel_toolerrors.vocabulary import RunStopped
from tests.layer.errors import http_error

ERRORS = [
    ConnectionRefusedError(111, "refused"),
    ConnectionResetError(104, "reset"),
    TimeoutError("read timed out"),
    FileNotFoundError(2, "no such file"),
    PermissionError(13, "denied"),
    ValueError("bad argument"),
    http_error(429, {"retry-after": "2"}),
    http_error(500),
    http_error(503),
    RuntimeError("boom"),
]
SAFE_FOR_WRITES = {"ConnectionRefusedError", "HTTPStatusError"}

acts = st.lists(st.sampled_from([*ERRORS, "value"]), min_size=1, max_size=4)
effects = st.sampled_from(["read", "idempotent", "write", "destructive"])


class RunMachine(RuleBasedStateMachine):
    """Calls of many kinds of tools, in one run after another."""

    @initialize(threshold=st.integers(2, 6), attempts=st.integers(1, 5))
    def start(self, threshold, attempts):
        breaker = BreakerPolicy(mode="consecutive", consecutive_failures=threshold, cooldown=20)
        self.policy = Policy.model_validate({"breaker": breaker, "retry": {"max_attempts": attempts}})
        self.bench = Bench(self.policy)
        self.answered = Counter()
        self.asked = 0
        self.number = 0
        self.begin()

    @rule()
    def begin(self):
        self.run = self.bench.layer.run()

    @rule(seconds=st.floats(0, 60))
    def wait(self, seconds):
        self.bench.clock.advance(seconds)

    @rule(acts=acts, effects=effects, optional=st.booleans(), keyed=st.booleans())
    def call(self, acts, effects, optional, keyed):
        self.number += 1
        name, service = f"tool{self.number}", f"service{self.number % 3}"
        tool = self.bench.tool(name, *acts, effects=effects, optional=optional, service=service)
        was_stopped = self.run.stopped
        self.asked += 1

        outcome = self.run.call(name, {"n": self.number}, call_id=str(self.asked), key="k" if keyed else None)

        self.answered[outcome.call_id] += 1
        assert outcome.attempts == len(tool.calls)
        assert outcome.attempts <= self.policy.retry.max_attempts
        assert outcome.text
        if was_stopped:
            assert "cancelled" == outcome.kind
            assert [] == tool.calls
        if outcome.kind == "stopped":
            assert self.run.stopped is not None
        if effects in ("write", "destructive") and not keyed:
            failed = acts[: max(len(tool.calls) - 1, 0)]
            assert {type(act).__name__ for act in failed} <= SAFE_FOR_WRITES, "an unknown effect is never repeated"

    @rule(name=st.text(min_size=1, max_size=20))
    def call_what_does_not_exist(self, name):
        self.asked += 1
        outcome = self.run.call(f"?{name}", {}, call_id=str(self.asked))
        self.answered[outcome.call_id] += 1
        assert not outcome.ok

    @invariant()
    def every_call_is_answered_once(self):
        assert self.asked == len(self.answered) == sum(self.answered.values())

    @invariant()
    def a_run_stops_once(self):
        assert len(self.bench.of(RunStopped)) <= self.number + self.asked


TestRunMachine = RunMachine.TestCase
