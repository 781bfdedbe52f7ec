"""What a type checker tells a user of the public names. Read by mypy; an ignored error that is none fails too."""

from collections.abc import Callable
from typing import Literal, assert_type

import otel_toolerrors as te

layer = te.RecoveryLayer(policy="toolerrors.toml")


@layer.tool(effects="read")
def search(query: str, *, limit: int = 10) -> list[str]:
    return [query] * limit


@layer.tool
async def send(address: str) -> int:
    return len(address)


# A tool stays the function that it was.
assert_type(search("x", limit=2), list[str])
search(3)  # type: ignore[arg-type]
search("x", depth=2)  # type: ignore[call-arg]


async def use_the_tool() -> None:
    assert_type(await send("a@example.org"), int)


@layer.tool(effects="careful")  # type: ignore[call-overload, untyped-decorator]
def misdeclared() -> None: ...


def use_a_run(later: Callable[[], None]) -> None:
    with layer.run(agent="triage", source="main_agent") as run:
        assert_type(run, te.Run)
        assert_type(run.stopped, te.Stopped | None)
        outcome = run.call("search", {"query": "x"}, call_id="toolu_1")
        assert_type(outcome, te.Outcome)
        assert_type(outcome.kind, Literal["ok", "surfaced", "degraded", "denied", "stopped", "cancelled"])
        assert_type(outcome.text, str)
        assert_type(outcome.envelope, te.Envelope | None)
        assert_type(outcome.packet, te.RecoveryPacket | None)
        if outcome.kind == "failed":  # type: ignore[comparison-overlap]
            later()
        run.call(search)  # type: ignore[arg-type]


async def use_an_async_run() -> None:
    async with layer.run() as run:
        assert_type(await run.acall("send", {"address": "a@example.org"}), te.Outcome)


def classify(error: Exception, answer: object) -> None:
    fault = te.classify(error, effects="write")
    assert_type(fault, te.Fault)
    assert_type(fault.retryable, bool)
    assert_type(fault.retry_after, float | None)
    assert_type(fault.side_effects, Literal["none", "unknown", "committed"])
    assert_type(te.classify_result(answer), te.Fault | None)
    fault.code = "http.503"  # type: ignore[misc]


te.Policy(unknown_key=1)  # type: ignore[call-arg]
