import pytest

pytest.importorskip("smolagents", reason="smolagents needs an environment of its own: make test-apart")

import smolagents

from tests.apart.recipe import Kit, recipe

RECIPE = recipe("smolagents")


class Scripted(smolagents.models.Model):
    """Stands in for a model: asks for the tools in turn."""

    def __init__(self, *names):
        super().__init__()
        self.names = list(names)
        self.requests = 0

    def generate(self, _messages, **_):
        """Ask for the next tool."""
        self.requests += 1
        name = self.names.pop(0)
        arguments = {"answer": "done"} if name == "final_answer" else {"query": "lamps"}
        function = smolagents.models.ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = smolagents.models.ChatMessageToolCall(id="c1", type="function", function=function)
        return smolagents.models.ChatMessage(role="assistant", content=None, tool_calls=[call])


def _tool(called, play):
    class Playing(smolagents.Tool):
        name, description, output_type = called, f"Ask for {called}.", "string"
        inputs = {"query": {"type": "string", "description": "What about."}}  # noqa: RUF012 - the framework's form

        def forward(self, query):
            return play(query=query)

    return Playing()


def _agent(kit, run, model):
    tools = [RECIPE.recovering(_tool(name, getattr(kit, name)), run) for name in ("search", "book", "read")]
    return smolagents.ToolCallingAgent(tools, model, verbosity_level=0, step_callbacks=[RECIPE.stopping(run)])


def test_model_sees_only_what_it_can_act_on():
    """The recipe's tools recover, and tell the model of what it may correct."""
    kit = Kit()
    with kit.run() as run:
        agent = _agent(kit, run, Scripted("search", "book", "book", "final_answer"))
        assert "done" == agent.run("go")
    kit.told([step.observations for step in agent.memory.steps if getattr(step, "observations", None)])


def test_stop_is_the_end():
    """After a permission error no model is asked."""
    kit = Kit()
    model = Scripted("read", "never")
    with kit.run() as run:
        agent = _agent(kit, run, model)
        with pytest.raises(smolagents.AgentError, match="interrupted"):
            agent.run("go")
    assert 1 == model.requests
