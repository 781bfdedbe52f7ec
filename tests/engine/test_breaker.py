import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from otel_toolerrors.engine import Rejection, ServiceBreaker
from otel_toolerrors.policy import BreakerPolicy
from otel_toolerrors.testing import failures_to_open


class Subject:
    """A breaker with its moves in a list."""

    def __init__(self, **policy):
        self.policy = BreakerPolicy(**policy)
        self.breaker = ServiceBreaker("api", self.policy)
        self.moves = []

    def attempt(self, now, *, ok, seconds=0.0):
        ticket = self.breaker.admit(now, self.moves.append)
        if isinstance(ticket, Rejection):
            return ticket
        self.record(ticket, now, ok=ok, seconds=seconds)
        return None

    def record(self, ticket, now, *, ok, seconds=0.0):
        move = self.breaker.record(ticket, ok=ok, seconds=seconds, now=now)
        if move is not None:
            self.moves.append(move)


def opened(**policy):
    """Make a breaker that opened at 0 and rests for 10 s."""
    subject = Subject(mode="consecutive", consecutive_failures=1, cooldown=10, **policy)
    subject.attempt(0, ok=False)
    return subject


@pytest.mark.parametrize(
    ("policy", "failures"),
    [
        ({"mode": "consecutive"}, 5),
        ({"mode": "consecutive", "consecutive_failures": 1}, 1),
        ({"minimum_calls": 4}, 4),
        ({}, 10),
        ({"control": "disabled"}, None),
        ({"control": "forced_open"}, None),
    ],
)
def test_failures_that_open(policy, failures):
    """A row, or the rate once the volume is there."""
    assert failures == failures_to_open(BreakerPolicy(**policy), limit=200)


def test_rate_needs_its_share():
    """Four failures among ten are less than half; a fifth opens."""
    subject = Subject(minimum_calls=5)
    for number in range(10):
        subject.attempt(number, ok=number % 2 == 1 or number == 0)
    assert "closed" == subject.breaker.state
    subject.attempt(10, ok=False)
    subject.attempt(10, ok=False)
    assert "open" == subject.breaker.state
    assert ("failure_rate", 12, 6) == tuple(getattr(subject.moves[0], name) for name in ("reason", "calls", "failures"))


def test_old_failures_leave_the_window():
    """What happened a window ago does not count."""
    subject = Subject(minimum_calls=4, window=10)
    for _ in range(3):
        subject.attempt(0, ok=False)
    subject.attempt(11, ok=False)
    assert "closed" == subject.breaker.state


def test_the_window_slides_by_a_tenth():
    """When the oldest tenth leaves, the others stay: the failures that open it here began half a window ago."""
    subject = Subject(minimum_calls=4, failure_rate=1.0, window=10)
    subject.attempt(0, ok=True)
    for now in (5, 5, 10.5):
        subject.attempt(now, ok=False)
    assert "closed" == subject.breaker.state
    subject.attempt(10.5, ok=False)
    assert "open" == subject.breaker.state


def test_success_breaks_a_row():
    """Mode consecutive counts failures in a row."""
    subject = Subject(mode="consecutive", consecutive_failures=3)
    for ok in (False, False, True, False, False):
        subject.attempt(0, ok=ok)
    assert "closed" == subject.breaker.state


def test_slow_calls_open():
    """Answers that come too late are a sickness too."""
    subject = Subject(slow_call=2.0, slow_call_rate=0.5, minimum_calls=4)
    for seconds in (0.1, 3.0, 0.1, 3.0):
        subject.attempt(0, ok=True, seconds=seconds)
    assert ("open", "slow_calls") == (subject.breaker.state, subject.moves[0].reason)


def test_open_rejects_and_says_how_long():
    """The open error carries the time left."""
    subject = opened()
    assert Rejection("open", 7.0) == subject.attempt(3, ok=True)
    assert Rejection("open", 0.25) == subject.attempt(9.75, ok=True)


def test_one_probe_closes():
    """After the cooldown one attempt may pass; if it works, all may."""
    subject = opened()
    assert subject.attempt(10, ok=True) is None
    assert ["open", "half_open", "closed"] == [move.to_state for move in subject.moves]


def test_one_probe_reopens():
    """A probe that fails begins the cooldown anew."""
    subject = opened()
    subject.attempt(10, ok=False)
    assert Rejection("open", 10.0) == subject.attempt(10, ok=True)


def test_second_caller_is_rejected_while_the_probe_is_out():
    """Half-open is no open door."""
    subject = opened()
    probe = subject.breaker.admit(10, subject.moves.append)
    assert Rejection("half_open", 9.0) == subject.breaker.admit(11, subject.moves.append)
    subject.breaker.release(probe)
    assert not isinstance(subject.breaker.admit(11, subject.moves.append), Rejection)


def test_a_lost_probe_does_not_stick():
    """A probe that never came back is replaced after another cooldown."""
    subject = opened()
    subject.breaker.admit(10, subject.moves.append)
    assert not isinstance(subject.breaker.admit(20, subject.moves.append), Rejection)


def test_late_result_cannot_move_a_newer_state():
    """An attempt from before the trip says nothing about after it."""
    subject = Subject(mode="consecutive", consecutive_failures=1, cooldown=10)
    late = subject.breaker.admit(0, subject.moves.append)
    subject.attempt(0, ok=False)
    subject.breaker.admit(10, subject.moves.append)
    subject.record(late, 10, ok=True)
    assert "half_open" == subject.breaker.state


def test_a_result_from_long_ago_cannot_move_it_either():
    """Not after two transitions, not after three: every state has a number of its own."""
    subject = Subject(mode="consecutive", consecutive_failures=1, cooldown=10)
    tickets = [subject.breaker.admit(0, subject.moves.append)]
    subject.attempt(0, ok=False)
    for now, ok in ((10, False), (20, False), (30, True)):
        tickets.append(subject.breaker.admit(now, subject.moves.append))
        subject.record(tickets[-1], now, ok=ok)
    assert "closed" == subject.breaker.state
    for ticket in tickets:
        subject.record(ticket, 31, ok=False)
        assert "closed" == subject.breaker.state


def test_a_row_begins_anew_with_every_state():
    """What failed before a trip does not count towards the next one."""
    subject = Subject(mode="consecutive", consecutive_failures=2, cooldown=10)
    for now, ok in ((0, False), (0, False), (10, True), (11, False)):
        subject.attempt(now, ok=ok)
    assert "closed" == subject.breaker.state
    subject.attempt(12, ok=False)
    assert ("open", 2) == (subject.breaker.state, subject.moves[-1].failures)


@pytest.mark.parametrize("control", ["disabled", "forced_open"])
def test_a_breaker_that_is_switched_counts_nothing(control):
    """What began before the switch and fails after it opens nothing when it is switched back."""
    subject = Subject(mode="consecutive", consecutive_failures=1, cooldown=10)
    ticket = subject.breaker.admit(0, subject.moves.append)
    subject.breaker.adopt(subject.policy.model_copy(update={"control": control}))
    subject.record(ticket, 1, ok=False)
    subject.breaker.adopt(subject.policy)
    assert ("closed", []) == (subject.breaker.state, subject.moves)


def test_a_disabled_breaker_lets_everything_pass_also_when_it_had_opened():
    """Switched off is switched off."""
    subject = opened()
    subject.breaker.adopt(BreakerPolicy(control="disabled"))
    assert not isinstance(subject.breaker.admit(1, subject.moves.append), Rejection)


def test_a_good_probe_says_why_it_closed():
    """The move back is told as well."""
    subject = opened()
    subject.attempt(10, ok=True)
    assert [("half_open", "cooldown_over"), ("closed", "probe_succeeded")] == [
        (move.to_state, move.reason) for move in subject.moves[1:]
    ]


def test_slow_calls_need_their_share():
    """Two slow ones among ten are less than half; slow begins at the limit itself."""
    subject = Subject(failure_rate=1.0, minimum_calls=4, slow_call=1.0, slow_call_rate=0.5, window=60)
    for number in range(10):
        subject.attempt(1, ok=True, seconds=1.0 * (number >= 8))
    assert "closed" == subject.breaker.state
    for _ in range(6):
        subject.attempt(1, ok=True, seconds=1.0)
    assert "open" == subject.breaker.state


def test_slow_calls_open_in_either_mode():
    """A row of failures is not all that tells of a sick service."""
    subject = Subject(
        mode="consecutive", consecutive_failures=9, minimum_calls=4, slow_call=1.0, slow_call_rate=0.5, window=60
    )
    for ok, seconds in ((False, 0.0), (True, 2.0), (True, 0.0), (True, 2.0)):
        subject.attempt(1, ok=ok, seconds=seconds)
    assert ("slow_calls", 4) == (subject.moves[0].reason, subject.moves[0].calls)


def test_shadow_counts_and_reports_but_never_rejects():
    """What it would have done is in the events."""
    subject = opened(control="shadow")
    assert subject.attempt(1, ok=False) is None
    assert [("open", True)] == [(move.to_state, move.shadow) for move in subject.moves]


def test_forced_open_rejects_without_end():
    """An operator's word is not a matter of time."""
    assert Rejection("forced_open", None) == Subject(control="forced_open").attempt(1e9, ok=True)


def test_adopting_a_policy_keeps_the_state():
    """A reload does not close an open breaker."""
    subject = opened()
    subject.breaker.adopt(BreakerPolicy(cooldown=5))
    assert Rejection("open", 2.0) == subject.attempt(3, ok=True)


class BreakerMachine(RuleBasedStateMachine):
    """Any order of attempts, results, waits and losses keeps the promises."""

    tickets = Bundle("tickets")

    @initialize(mode=st.sampled_from(["failure_rate", "consecutive"]), minimum=st.integers(1, 5))
    def start(self, mode, minimum):
        self.subject = Subject(mode=mode, minimum_calls=minimum, consecutive_failures=minimum, cooldown=10, window=30)
        self.now = 0.0
        self.opened_at = None
        self.probes_since_open = 0

    @rule(seconds=st.floats(0, 40))
    def wait(self, seconds):
        self.now += seconds

    @rule(target=tickets)
    def admit(self):
        before = len(self.subject.moves)
        ticket = self.subject.breaker.admit(self.now, self.subject.moves.append)
        self._follow(before)
        if isinstance(ticket, Rejection):
            assert self.opened_at is not None, "a closed breaker rejects nothing"
            assert ticket.retry_after is not None
            assert ticket.retry_after >= 0
            return None
        if self.opened_at is not None:
            self.probes_since_open += 1
            periods = (self.now - self.opened_at) // self.subject.policy.cooldown
            assert self.probes_since_open <= periods, "one probe per break period at most"
        return ticket

    @rule(ticket=consumes(tickets), ok=st.booleans())
    def settle(self, ticket, ok):
        if ticket is not None:
            before = len(self.subject.moves)
            self.subject.record(ticket, self.now, ok=ok)
            self._follow(before)

    def _follow(self, before):
        for move in self.subject.moves[before:]:
            if move.to_state == "open":
                self.opened_at, self.probes_since_open = self.now, 0
            elif move.to_state == "closed":
                self.opened_at = None

    @invariant()
    def moves_are_connected(self):
        states = ["closed", *[move.to_state for move in self.subject.moves]]
        assert [move.from_state for move in self.subject.moves] == states[:-1]
        assert states[-1] == self.subject.breaker.state


TestBreakerMachine = BreakerMachine.TestCase
