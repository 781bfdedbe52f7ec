"""What a user plugs in may raise, block or call back: the call it belongs to is answered, and others go on."""

import asyncio
import threading

import pytest

import otel_toolerrors as te
from otel_toolerrors.policy import Fallback

CALLBACKS = {
    "listener": {"on_event": "raise"},
    "packet listener": {"on_packet": "raise"},
    "token counter": {"count_tokens": "raise"},
    "permission check": {"permission": "raise"},
    "credential refresh": {"credentials": "raise"},
}


class CallbackError(Exception):
    """What a user's callback raises."""


def _raise(*_args, **_kwargs):
    raise CallbackError("the callback is broken: token=hunter2hunter2")


def _layer(**options):
    if "credentials" in options:
        options["credentials"] = {"api": _raise}
    layer = te.RecoveryLayer(
        te.parse_policy("[run]\nstop_on = []"), sleep=lambda _seconds: None,
        **{name: _raise if value == "raise" else value for name, value in options.items()},
    )  # fmt: skip

    @layer.tool(effects="write", credential="api")
    def write():
        raise TimeoutError("no answer")

    @layer.tool(effects="read", credential="api")
    def denied():
        error = PermissionError("401 Unauthorized")
        error.status_code = 401
        raise error

    @layer.tool(effects="read")
    def good():
        return "good"

    return layer


@pytest.mark.parametrize("name", CALLBACKS)
def test_a_callback_that_raises_is_answered_for(name):
    """Every call has an outcome with a text, none of which quotes the callback's error."""
    layer = _layer(**CALLBACKS[name])
    outcomes = []
    for tool in ("write", "denied", "good", "made_up"):
        with layer.run() as run:
            outcomes.append(run.call(tool))
    assert all(outcome.text for outcome in outcomes)
    assert not any("hunter2" in outcome.text for outcome in outcomes)
    assert outcomes[2].kind == ("denied" if name == "permission check" else "ok")


def test_a_test_for_results_that_raises_leaves_the_result():
    """When the function that tells errors from results fails, what the tool returned is its result."""
    layer = te.RecoveryLayer()
    layer.tool(name="answer", effects="read", in_band=_raise)(lambda: "good")
    with layer.run() as run:
        assert "good" == run.call("answer").value


def test_a_fallback_whose_arguments_cannot_be_adapted_is_left_out():
    """A stand-in that does not take the arguments is a failure of its own, and the call is answered."""
    layer = te.RecoveryLayer(te.parse_policy("[run]\nstop_on = []"), sleep=lambda _seconds: None)

    @layer.tool(effects="read", fallback=(Fallback(tool="stand_in", arguments={"nothing": "such"}), "good"))
    def primary(query):
        raise ConnectionResetError(query)

    @layer.tool(effects="read")
    def stand_in(other):
        return other

    @layer.tool(effects="read")
    def good(query):
        return query

    with layer.run() as run:
        assert "x" == run.call("primary", {"query": "x"}).value


def test_a_listener_that_blocks_holds_up_its_own_call_only():
    """While one listener hangs, calls of other threads go through, and its own goes on when it returns."""
    inside, go_on = threading.Event(), threading.Event()

    def hang_once(_event):
        if not inside.is_set():
            inside.set()
            assert go_on.wait(30)

    layer = te.RecoveryLayer(on_event=hang_once, sleep=lambda _seconds: None)
    turns = iter([ConnectionResetError("reset")])

    @layer.tool(effects="read", service="api")
    def read():
        for error in turns:
            raise error
        return "read"

    found = []
    with layer.run() as run:
        stuck = threading.Thread(target=lambda: found.append(run.call("read").value))
        stuck.start()
        assert inside.wait(30)
        assert [run.call("read").value for _ in range(10)] == ["read"] * 10
        assert [] == found
        go_on.set()
        stuck.join(30)
    assert ["read"] == found


def test_a_listener_that_calls_the_layer_does_not_lock_it():
    """A listener may make a call of its own: no lock of ours is held while it runs."""
    answers = []

    def call_back(_event):
        if not answers:
            answers.append(None)
            answers.append(run.call("good").value)

    layer = te.RecoveryLayer(on_event=call_back, sleep=lambda _seconds: None)
    layer.tool(name="good", effects="read", service="api")(lambda: "good")

    @layer.tool(effects="read", service="api")
    def bad():
        raise ConnectionResetError

    with layer.run() as run:
        run.call("bad")
    assert [None, "good"] == answers


def test_an_async_callback_that_raises_denies():
    """A check that fails after an await is a no, like one that fails at once."""

    async def check(_tool, _arguments):
        await asyncio.sleep(0)
        _raise()

    layer = _layer(permission=check)

    async def main():
        async with layer.run() as run:
            return await run.acall("good")

    assert "denied" == asyncio.run(main()).kind
