import re
from pathlib import Path

import pytest

from otel_toolerrors.testing import Bench, Script


def _recipe(title):
    """The code of one recipe, as the page prints it."""
    page = Path("docs/integrations/recipes.md").read_text(encoding="utf-8")
    found = re.search(rf"## {title}\n\n```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(found.group(1), names)  # noqa: S102 - our own page
    return names


def test_smolagents():
    """The recipe's tool recovers, and tells the model of what it may correct."""
    smolagents = pytest.importorskip("smolagents", reason="runs the recipe for smolagents")
    bench = Bench()
    play = Script(ConnectionResetError(), "one lamp", ValueError("no such shelf"))

    bench.layer.tool(name="search", effects="read")(play)

    class Search(smolagents.Tool):
        name, description, output_type = "search", "Search the catalogue.", "string"
        inputs = {"query": {"type": "string", "description": "What to look for."}}  # noqa: RUF012 - the framework's form

        def forward(self, query):
            return play(query=query)

    class Scripted(smolagents.models.Model):
        turns = iter(["search", "search", "final_answer"])

        def generate(self, _messages, **_):
            name = next(self.turns)
            arguments = {"answer": "done"} if name == "final_answer" else {"query": "lamps"}
            function = smolagents.models.ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = smolagents.models.ChatMessageToolCall(id="c1", type="function", function=function)
            return smolagents.models.ChatMessage(role="assistant", content=None, tool_calls=[call])

    with bench.layer.run() as run:
        tool = _recipe("smolagents")["recovering"](Search(), run)
        agent = smolagents.ToolCallingAgent([tool], Scripted(), verbosity_level=0)
        assert "done" == agent.run("go")

    observed = [step.observations for step in agent.memory.steps if getattr(step, "observations", None)]
    assert "one lamp" in observed[0]
    assert "validation" in observed[1]
    assert 3 == len(play.calls)
