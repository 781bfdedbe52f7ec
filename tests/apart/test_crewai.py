import json

import pytest

pytest.importorskip("crewai", reason="CrewAI needs an environment of its own: make test-apart")

import crewai
from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolExecutionFailedError

from otel_toolerrors.testing import Script
from tests.apart.recipe import Kit, recipe

RECIPE = recipe("CrewAI")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own fields


class Scripted(crewai.BaseLLM):
    """Stands in for a model: asks for the tools in turn."""

    names: list[str]
    seen: list[object]

    def call(self, messages, **_):
        """Ask for the next tool."""
        self.seen.append(list(messages))
        name = self.names.pop(0)
        if name == "done":
            return name
        function = {"name": name, "arguments": json.dumps({"query": "lamps"})}
        return [{"id": f"c{len(self.seen)}", "type": "function", "function": function}]

    async def acall(self, messages, **how):
        """Do what `call` does."""
        return self.call(messages, **how)

    def supports_function_calling(self):
        """Say that tools are asked for in the provider's own form."""
        return True


def _tool(called, play):
    class Playing(BaseTool):
        name: str = called
        description: str = f"Ask for {called}."

        def _run(self, query: str) -> str:
            return play(query=query)

    return Playing()


def _answer(kit, model):
    with kit.run() as run:
        tools = [RECIPE.recovering(_tool(name, getattr(kit, name)), run) for name in ("search", "book", "read")]
        agent = crewai.Agent(role="r", goal="g", backstory="b", llm=model, tools=tools, cache=False)
        return agent.kickoff("go").raw


def test_model_sees_only_what_it_can_act_on():
    """The recipe's tools recover, and tell the model of what it may correct."""
    kit = Kit()
    model = Scripted(model="scripted", names=["search", "book", "book", "done"], seen=[])
    assert "done" == _answer(kit, model)
    kit.told([message["content"] for message in model.seen[-1] if message["role"] == "tool"])


def test_stop_is_the_end():
    """After a permission error no model is asked."""
    model = Scripted(model="scripted", names=["read", "never"], seen=[])
    with pytest.raises(ToolExecutionFailedError):
        _answer(Kit(), model)
    assert 1 == len(model.seen)


class Reasoning(Scripted):
    """A model that asks for tools in prose."""

    def call(self, messages, **_):
        """Ask for the next tool."""
        self.seen.append(list(messages))
        name = self.names.pop(0)
        if name == "done":
            return "Thought: I now know the final answer\nFinal Answer: done"
        return f'Thought: I need it\nAction: {name}\nAction Input: {{"query": "lamps"}}'

    def supports_function_calling(self):
        """Say that tools are asked for in prose."""
        return False


def test_failing_tool_is_run_once_for_an_action():
    """CrewAI runs a tool that raises several times for one action; the recipe's does not raise."""
    bare, kit = Kit(), Kit()
    bare.book = Script(ValueError("date must be ISO 8601"))
    agent = {"role": "r", "goal": "g", "backstory": "b", "cache": False}
    model = Reasoning(model="scripted", names=["book", "done"], seen=[])
    crewai.Agent(**agent, llm=model, tools=[_tool("book", bare.book)]).kickoff("go")

    _answer(kit, Reasoning(model="scripted", names=["book", "done"], seen=[]))

    assert 1 < len(bare.book.calls)
    assert 1 == len(kit.book.calls)
