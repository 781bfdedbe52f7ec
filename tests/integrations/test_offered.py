import importlib.util

import pytest

from otel_toolerrors.surface import Catalog, Suggestion
from tests.integrations.conformance.adapter import APART, FRAMEWORKS, adapters_of, play
from tests.integrations.conformance.scenarios import Scenario
from tests.integrations.wire import Ask

KNOW_THEIR_TOOLS = ("LangChain agent", "pydantic-ai", "OpenAI Agents", "Microsoft Agent Framework", "MCP client")


def _set_up(stage):
    stage.layer.catalog = Catalog(
        version="1", suggestion=(Suggestion(id="ask-first", text="Ask helper first.", tools=("helper",)),)
    )
    stage.tool("book", ValueError("date must be ISO 8601"), "booked")
    stage.tool("helper", "2026-11-21", effects="read")
    stage.layer.tools._tools.pop("helper")  # the framework's alone


def _check(_, seen):
    assert "Ask helper first." in seen.results["a1"]


SCENARIO = Scenario("offered", "A suggestion", [[Ask("a1", "book")], "done"], _set_up, _check)


def _adapters():
    for framework, modules in FRAMEWORKS.items():
        if framework not in APART and all(importlib.util.find_spec(module) for module in modules):
            yield from (own for own in adapters_of(framework) if own.name.startswith(KNOW_THEIR_TOOLS))


@pytest.mark.parametrize("adapter", list(_adapters()), ids=lambda adapter: adapter.name)
def test_suggestion_may_name_a_tool_that_only_the_framework_knows(adapter):
    """Where a framework knows what the model is shown, no suggestion is dropped as stale for want of a registration."""
    play(adapter, SCENARIO)
