"""What one attempt asks for, and what its end tells about the service."""

import pytest

from otel_toolerrors.engine import Call
from otel_toolerrors.policy import BreakerPolicy, Declaration, Policy, RunPolicy, resolve
from otel_toolerrors.testing import steady
from tests.layer.errors import http_error

from .setting import DRIVERS, Setting


@pytest.mark.parametrize(("effects", "hedged"), [("read", 2.0), ("idempotent", 2.0), ("write", None)])
def test_only_what_may_be_made_twice_is_hedged(effects, hedged):
    """A second try beside the first is a repeat."""
    setting = Setting(policy=steady(hedge_after=2.0))
    rules = resolve(setting.policy, "search", Declaration(effects=effects), "main_agent")
    assert hedged == Call("search", {}, rules=rules, around=setting.around, now=0.0).open().hedge_after


@pytest.mark.parametrize("drive", DRIVERS)
def test_an_answer_is_an_answer_though_the_model_must_correct_itself(drive):
    """A service that says what is wrong with the arguments is well: the probe closes the breaker."""
    opens = BreakerPolicy(mode="consecutive", consecutive_failures=1, cooldown=10)
    policy = steady(Policy(breaker=opens, run=RunPolicy(stop_on=frozenset())), max_attempts=1)
    setting = Setting(TimeoutError("slow"), http_error(422), policy=policy, service="api")
    breaker = setting.around.services.get("api").breaker
    setting.call(drive)
    assert "open" == breaker.state
    setting.witness.now += 10
    assert "validation" == setting.call(drive).fault.category
    assert "closed" == breaker.state


@pytest.mark.parametrize("drive", DRIVERS)
@pytest.mark.parametrize(("seconds", "state"), [(0.9, "closed"), (1.1, "open")])
def test_an_attempt_is_slow_by_its_own_time(drive, seconds, state):
    """However late it began."""
    breaker = BreakerPolicy(slow_call=1.0, slow_call_rate=1.0, minimum_calls=1)
    setting = Setting("well", policy=Policy(breaker=breaker), service="api")
    setting.witness.now = 100.0
    tool = setting._tool

    def takes_a_while(attempt):
        setting.witness.now += seconds
        return tool(attempt)

    setting._tool = takes_a_while
    setting.call(drive)
    assert state == setting.around.services.get("api").breaker.state
