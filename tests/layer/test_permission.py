import asyncio

import pytest

from otel_toolerrors.testing import Bench
from otel_toolerrors.vocabulary import CallDenied, CredentialsRefreshed, RunStopped
from tests.layer.errors import http_error


def test_denied_call_is_answered_with_its_reason_and_never_made(call):
    """Our own refusal reaches the model, which may ask for something else."""
    bench = Bench(permission=lambda tool, _arguments: "writes need approval" if tool == "write" else None)
    tool = bench.tool("write", "done")

    with bench.layer.run() as run:
        outcome = call(run, "write", {"x": 1}, call_id="c")

    assert ("denied", True) == (outcome.kind, outcome.is_error)
    assert "write was not run: permission denied: writes need approval" == outcome.text
    assert [] == tool.calls
    assert run.stopped is None


@pytest.mark.parametrize(("check", "denied"), [(None, 0), (True, 0), ("no", 1), (False, 1), ("", 1)])
def test_only_none_and_true_allow(call, check, denied):
    """Every other answer of the check is a no."""
    bench = Bench(permission=lambda _tool, _arguments: check)
    bench.tool("act", "done", effects="read")

    with bench.layer.run() as run:
        call(run, "act")

    assert denied == len(bench.of(CallDenied))


def test_a_check_that_fails_denies(call):
    """Fail closed."""

    def check(_tool, _arguments):
        raise RuntimeError("ldap://secret is down")

    bench = Bench(permission=check)
    bench.tool("act", "done")

    with bench.layer.run() as run:
        outcome = call(run, "act")

    assert "denied" == outcome.kind
    assert "secret" not in outcome.text


def test_three_denials_in_a_row_escalate(call):
    """The third refusal in a row stops the run; an allowed call in between starts the count anew."""
    bench = Bench(permission=lambda tool, _arguments: "no" if tool == "write" else None)
    bench.tool("write", "done")
    bench.tool("read", "text", effects="read")

    with bench.layer.run() as run:
        kinds = [call(run, tool).kind for tool in ("write", "write", "read", "write", "write", "write", "read")]

    assert ["denied", "denied", "ok", "denied", "denied", "stopped", "cancelled"] == kinds
    assert ["denials"] == [stop.reason for stop in bench.of(RunStopped)]


def test_twenty_denials_escalate_however_spread(call):
    """Asking again and again between other calls is limited too."""
    bench = Bench(permission=lambda tool, _arguments: "no" if tool == "write" else None)
    bench.tool("write", "done")
    bench.tool("read", "text", effects="read")

    with bench.layer.run() as run:
        for _ in range(19):
            assert "denied" == call(run, "write").kind
            call(run, "read")
        assert "stopped" == call(run, "write").kind


def test_permission_drift_is_noticed(call):
    """A tool that was allowed earlier in the run and is refused now is marked."""
    allowed = iter([None, "quota of writes used up"])
    bench = Bench(permission=lambda _tool, _arguments: next(allowed))
    bench.tool("write", "done")

    with bench.layer.run() as run:
        call(run, "write")
        call(run, "write")

    assert [True] == [denial.drift for denial in bench.of(CallDenied)]


def test_expired_credential_is_refreshed_once_and_the_call_made_again(call):
    """A 401 gets one refresh and one more try, also for a write: it was refused before it acted."""
    refreshed = []
    bench = Bench(credentials={"github": lambda: refreshed.append(1)})
    tool = bench.tool("issue", http_error(401), "created", effects="write", credential="github")

    with bench.layer.run() as run:
        outcome = call(run, "issue")

    assert ("ok", 2) == (outcome.kind, len(tool.calls))
    assert [1] == refreshed
    assert [("github", True)] == [(c.credential, c.succeeded) for c in bench.of(CredentialsRefreshed)]


def test_what_remains_after_a_refresh_is_terminal(call):
    """A second 401 stops the run; a refresh is not tried again."""
    refreshed = []
    bench = Bench(credentials={"github": lambda: refreshed.append(1)})
    tool = bench.tool("issue", http_error(401), effects="read", credential="github")

    with bench.layer.run() as run:
        assert "stopped" == call(run, "issue").kind

    assert (2, [1]) == (len(tool.calls), refreshed)


@pytest.mark.parametrize("refresher", [lambda: False, lambda: 1 / 0])
def test_a_refresh_that_fails_gets_no_second_try(call, refresher):
    """Without a new credential the same call would fail the same way."""
    bench = Bench(credentials={"github": refresher})
    tool = bench.tool("issue", http_error(401), effects="read", credential="github")

    with bench.layer.run() as run:
        assert "stopped" == call(run, "issue").kind

    assert 1 == len(tool.calls)


def test_concurrent_calls_share_one_refresh():
    """Ten calls meet the expired credential at once: it is refreshed once, and all succeed."""
    valid, refreshes = False, []

    async def refresh():
        nonlocal valid
        refreshes.append(1)
        await asyncio.sleep(0)
        valid = True

    bench = Bench(credentials={"api": refresh})

    @bench.layer.tool(effects="read", credential="api")
    async def fetch(n: int) -> int:
        await asyncio.sleep(0)
        if not valid:
            raise http_error(401)
        return n

    async def main():
        async with bench.layer.run() as run:
            return await asyncio.gather(*(run.acall("fetch", {"n": n}) for n in range(10)))

    assert list(range(10)) == [outcome.value for outcome in asyncio.run(main())]
    assert [1] == refreshes


def test_async_check_is_awaited():
    """A check may ask a service of its own."""

    async def check(tool, _arguments):
        await asyncio.sleep(0)
        return "not today" if tool == "write" else None

    bench = Bench(permission=check)
    bench.tool("write", "done")
    bench.tool("read", "text", effects="read")

    async def main():
        async with bench.layer.run() as run:
            return [(await run.acall(tool)).kind for tool in ("write", "read")]

    assert ["denied", "ok"] == asyncio.run(main())
