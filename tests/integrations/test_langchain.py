import asyncio

import pytest

pytest.importorskip("langchain", reason="tests the adapter for LangChain")

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool

from otel_toolerrors import Policy
from otel_toolerrors.integrations.langchain import RecoveryMiddleware
from otel_toolerrors.integrations.langgraph import complete
from otel_toolerrors.testing import Bench, steady
from tests.integrations.conformance.adapters.langchain import _model
from tests.integrations.conformance.stage import Seen
from tests.integrations.wire import Ask


def _failing(q: str) -> str:
    """Fail."""
    raise ValueError(f"no {q}")


TOOL = StructuredTool.from_function(_failing, name="failing")


def _agent(middleware, turns):
    return create_agent(_model(turns, Seen()), [TOOL], middleware=[middleware])


def test_invocations_that_share_a_middleware_share_no_counts():
    """Ten agents fail twice each at the same time; nobody reaches the limit of three, and no run is left behind."""
    middleware = RecoveryMiddleware(Bench().layer)
    turns = [[Ask("a1", "failing")], [Ask("a2", "failing")], "done"]

    async def main():
        said = {"messages": [("user", "go")]}
        return await asyncio.gather(*(_agent(middleware, turns).ainvoke(said) for _ in range(10)))

    assert ["done"] * 10 == [result["messages"][-1].content for result in asyncio.run(main())]
    assert 0 == len(middleware._runs)


def test_own_state_stays_private():
    """The run's id is in no output."""
    middleware = RecoveryMiddleware(Bench().layer)

    assert {"messages"} == set(_agent(middleware, ["done"]).invoke({"messages": [("user", "go")]}))


def test_observe_mode_changes_nothing():
    """With an observing policy the agent crashes as it would without the middleware, and the fault is on record."""
    bench = Bench(steady(Policy(mode="observe")))
    agent = _agent(RecoveryMiddleware(bench.layer), [[Ask("a1", "failing")], "done"])

    with pytest.raises(ValueError, match="no x"):
        agent.invoke({"messages": [("user", "go")]})

    assert ["toolerrors.fault.classified"] == [event.NAME for event in bench.events]


def test_argument_errors_reach_the_model_classified():
    """What the framework has already turned into a message is an error all the same, and keeps its kind."""
    bench = Bench()
    agent = _agent(RecoveryMiddleware(bench.layer), [[Ask("a1", "failing", {"wrong": 1})], "done"])

    said = agent.invoke({"messages": [("user", "go")]})["messages"]

    (message,) = (message for message in said if isinstance(message, ToolMessage))
    assert ("error", True) == (message.status, "failing failed (validation" in message.content)


def test_graph_of_ones_own_can_be_continued_after_a_crash():
    """Unanswered calls are answered where they stand; what is complete stays as it is."""
    bench = Bench()
    bench.tool("search", "found it", effects="read")
    calls = [{"id": call_id, "name": "search", "args": {}} for call_id in ("c1", "c2")]
    history = [HumanMessage("go"), AIMessage("", tool_calls=calls), HumanMessage("go on")]

    with bench.layer.run() as run:
        run.call("search", call_id="c1")
        whole = complete(run, history)
        assert whole == complete(run, whole)

    assert ["found it", "Operation cancelled."] == [message.content for message in whole[2:4]]
    assert history == [*whole[:2], whole[4]]
