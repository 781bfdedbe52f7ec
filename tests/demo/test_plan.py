import pytest
from pydantic import ValidationError

from otel_toolerrors.demo.plan import Fault, Plan, Request, Service, Weather, default_plan


def _weather(seed: int = 1, **fault: object) -> Weather:
    service = Service(name="s", latency=(0.1, 0.2))
    return Weather(Plan(service=(service,), fault=(Fault(name="f", service="s", status=503, **fault),)), seed)


def _request(path: str) -> Request:
    return Request(service="s", method="GET", path=path)


def test_default_plan_plants_every_kind_of_fault():
    """The plan that ships holds resets, silence, outages, and the statuses that the demo tells of."""
    plan = default_plan()
    assert {403, 404, 429, 500, 503} == {fault.status for fault in plan.fault if fault.status}
    assert any(fault.reset for fault in plan.fault)
    assert any(fault.silence and fault.committed for fault in plan.fault)
    assert ["carrier"] == [service.name for service in plan.service if service.outages]


def test_healthy_plan_keeps_the_services():
    """Without its faults, a plan has the same services and no outage."""
    plan = default_plan()
    assert [service.name for service in plan.service] == [service.name for service in plan.healthy().service]
    assert plan.healthy().fault == ()
    assert [service for service in plan.healthy().service if service.outages] == []


def test_fault_says_one_thing():
    """A fault with two answers is refused by its name."""
    with pytest.raises(ValidationError, match="fault 'f': say one of status, reset and silence"):
        Fault(name="f", service="s", status=500, reset=True)


def test_share_is_kept():
    """About the share of the different requests is struck, each time the same ones."""
    struck = [_weather(share=0.3).strike(_request(f"/{n}"), 0.0) is not None for n in range(1_000)]
    again = [_weather(share=0.3).strike(_request(f"/{n}"), 50.0) is not None for n in range(1_000)]
    assert struck == again
    assert 250 < sum(struck) < 350


def test_times_counts_the_same_request():
    """A fault that strikes twice lets the third try pass."""
    weather = _weather(times=2)
    assert [True, True, False] == [weather.strike(_request("/a"), float(n)) is not None for n in range(3)]
    assert weather.struck == {"f": 2}


def test_lasts_counts_from_the_first_try():
    """A fault that lasts is over some seconds after the request was first made."""
    weather = _weather(lasts=(5, 5))
    assert [True, True, False] == [weather.strike(_request("/a"), now) is not None for now in (100.0, 104.9, 105.0)]


def test_windows_strike_whatever_is_asked():
    """In a window every request is struck, outside none."""
    weather = _weather(every=100, lasts=(10, 10))
    moments = [now for now in range(1_000) if weather.strike(_request(f"/{now}"), float(now))]
    assert 50 <= len(moments) <= 200
    assert all(weather.strike(_request("/other"), float(now)) for now in moments)


def test_seeds_differ():
    """Another seed strikes other requests."""
    one, two = _weather(1, share=0.5), _weather(2, share=0.5)
    paths = [f"/{n}" for n in range(100)]
    assert [bool(one.strike(_request(path), 0.0)) for path in paths] != [
        bool(two.strike(_request(path), 0.0)) for path in paths
    ]
