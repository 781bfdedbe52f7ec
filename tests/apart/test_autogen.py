import asyncio
import json

import pytest

pytest.importorskip("autogen_agentchat", reason="AutoGen needs an environment of its own: make test-apart")

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMentionTermination
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelInfo, RequestUsage
from autogen_core.tools import FunctionTool
from autogen_ext.models.replay import ReplayChatCompletionClient

from tests.apart.recipe import Kit, recipe

RECIPE = recipe("AutoGen")


def _says(name):
    content = name
    if name != "done":
        content = [FunctionCall(id="c1", name=name, arguments=json.dumps({"query": "lamps"}))]
    why = "stop" if name == "done" else "function_calls"
    return CreateResult(finish_reason=why, content=content, usage=RequestUsage(1, 1), cached=False)


def _tool(name, play):
    def playing(query: str) -> str:
        return play(query=query)

    return FunctionTool(playing, name=name, description=f"Ask for {name}.")


def _messages(kit, *names, **options):
    abilities = ModelInfo(
        vision=False, function_calling=True, json_output=False, family="unknown", structured_output=False
    )
    model = ReplayChatCompletionClient([_says(name) for name in names], model_info=abilities)

    async def main():
        with kit.run() as run:
            tools = [_tool(name, getattr(kit, name)) for name in ("search", "book", "read")]
            agent = AssistantAgent("triage", model, workbench=RECIPE.RecoveringWorkbench(tools, run), **options)
            ending = RECIPE.stopping(run) | TextMentionTermination("done")
            return (await RoundRobinGroupChat([agent], termination_condition=ending).run(task="go")).messages

    return asyncio.run(main()), model


def _results(messages):
    return [result for message in messages if isinstance(message, ToolCallExecutionEvent) for result in message.content]


def test_model_sees_only_what_it_can_act_on():
    """The recipe's tools recover, and tell the model of what it may correct."""
    kit = Kit()
    messages, _ = _messages(kit, "search", "book", "book", "done")
    assert "done" == messages[-1].content
    kit.told([result.content for result in _results(messages)])
    assert [False, True, False] == [result.is_error for result in _results(messages)]


def test_stop_is_the_end():
    """After a permission error the team asks no model."""
    messages, model = _messages(Kit(), "read", "never")
    assert 1 == len(model.create_calls)
    assert "The run has stopped." in _results(messages)[0].content


def test_agent_that_goes_on_by_itself_sees_no_stop():
    """With more than one iteration in a turn, the agent asks its model again before the team asks for a stop."""
    _, model = _messages(Kit(), "read", "done", max_tool_iterations=2)
    assert 2 == len(model.create_calls)
