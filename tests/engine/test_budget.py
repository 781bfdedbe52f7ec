from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from otel_toolerrors.engine import RetryBudget
from otel_toolerrors.policy import BudgetPolicy


def test_retries_cost_and_a_spent_budget_refuses():
    """Two retries at 14 fit into 30; the third does not."""
    budget = RetryBudget(BudgetPolicy(capacity=30, floor=0))
    assert [True, True, False] == [budget.take(throttled=False) is not None for _ in range(3)]


def test_throttles_cost_less():
    """Waiting for a rate limit is no load."""
    budget = RetryBudget(BudgetPolicy(capacity=30, floor=0))
    assert 6 == sum(budget.take(throttled=True) is not None for _ in range(10))


def test_floor_is_always_granted():
    """A few retries may be under way whatever the bucket says."""
    budget = RetryBudget(BudgetPolicy(capacity=0, floor=2))
    first, second = budget.take(throttled=False), budget.take(throttled=False)
    assert budget.take(throttled=False) is None
    budget.settle(first, ok=False)
    assert budget.take(throttled=False) is not None
    assert second is not None


def test_success_pays_back():
    """A recovered call returns what its retry took; a first-try success pays in."""
    budget = RetryBudget(BudgetPolicy(capacity=30, floor=0))
    budget.settle(budget.take(throttled=False), ok=True)
    assert 30 == budget.tokens
    budget.settle(budget.take(throttled=False), ok=False)
    budget.credit()
    assert 17 == budget.tokens


def test_adopting_a_smaller_budget_cuts_what_is_left():
    """A reload takes effect at once."""
    budget = RetryBudget(BudgetPolicy())
    budget.adopt(BudgetPolicy(capacity=10))
    assert 10 == budget.tokens


class BudgetMachine(RuleBasedStateMachine):
    """However retries begin and end, the bucket stays within its bounds and the floor holds."""

    holds = Bundle("holds")

    @initialize(capacity=st.floats(0, 100), floor=st.integers(0, 3))
    def start(self, capacity, floor):
        self.policy = BudgetPolicy(capacity=capacity, floor=floor)
        self.budget = RetryBudget(self.policy)
        self.out = 0

    @rule(target=holds, throttled=st.booleans())
    def take(self, throttled):
        cost = self.policy.throttle_cost if throttled else self.policy.transient_cost
        affordable = self.budget.tokens >= cost or self.out < self.policy.floor
        hold = self.budget.take(throttled=throttled)
        assert affordable == (hold is not None)
        self.out += hold is not None
        return hold

    @rule(hold=consumes(holds), ok=st.booleans())
    def settle(self, hold, ok):
        if hold is not None:
            self.budget.settle(hold, ok=ok)
            self.out -= 1

    @rule()
    def credit(self):
        self.budget.credit()

    @invariant()
    def bounded(self):
        assert 0 <= self.budget.tokens <= self.policy.capacity


TestBudgetMachine = BudgetMachine.TestCase
