"""What a change of policy does to services that are under way, and to those that come later."""

import pytest

from otel_toolerrors.engine import Rejection, Services
from otel_toolerrors.policy import Policy


@pytest.fixture
def services():
    """Two services that exist under the default policy."""
    services = Services(Policy())
    services.get("api"), services.get("other")
    return services


OVERRIDDEN = Policy.model_validate(
    {"services": {"api": {"breaker": {"control": "forced_open"}, "budget": {"capacity": 3, "floor": 0}}}}
)


def test_each_service_takes_what_the_new_policy_says_for_it(services):
    """By its own name: the override of one is not another's."""
    services.adopt(OVERRIDDEN)

    assert ["forced_open", "closed"] == [services.get(name).breaker.state for name in ("api", "other")]
    assert 3 == services.get("api").budget.tokens < services.get("other").budget.tokens


def test_a_service_that_comes_later_is_under_the_new_policy_too():
    """It is made when first asked for, with what is in force then."""
    services = Services(Policy())
    services.adopt(OVERRIDDEN)

    assert Rejection("forced_open", None) == services.get("api").breaker.admit(0.0, lambda _move: None)
    assert "closed" == services.get("other").breaker.state
    assert [3, 500] == [services.get(name).budget.tokens for name in ("api", "other")]


def test_a_service_is_made_once(services):
    """Whoever asks for it shares what the others know of it."""
    assert services.get("api") is services.get("api") is not services.get("other")
