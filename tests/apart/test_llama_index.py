import asyncio

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex needs an environment of its own: make test-apart")

from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import BaseTool, FunctionTool
from llama_index.core.tools.calling import call_tool

from otel_toolerrors.surface.messages import STOP_MESSAGES
from otel_toolerrors.testing import Script
from tests.apart.recipe import Kit, recipe

RECIPE = recipe("LlamaIndex")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its own use of pydantic


class Scripted:
    """Stands in for a model, through LlamaIndex's own mock: asks for the tools in turn."""

    def __init__(self, *names):
        self.names = list(names)
        self.seen = []
        self.llm = MockFunctionCallingLLM(response_generator=self._say, is_chat_model=True)

    def _say(self, messages, **_):
        self.seen.append(list(messages))
        name = self.names.pop(0)
        if name == "done":
            return ChatMessage(role="assistant", content=name)
        call = ToolCallBlock(tool_call_id=f"c{len(self.seen)}", tool_name=name, tool_kwargs={"query": "lamps"})
        return ChatMessage(role="assistant", blocks=[call])


def _tool(name, play):
    def playing(query: str) -> str:
        return play(query=query)

    return FunctionTool.from_defaults(fn=playing, name=name, description=f"Ask for {name}.")


def _answer(kit, model):
    async def main():
        with kit.run() as run:
            tools = [RECIPE.Recovering(_tool(name, getattr(kit, name)), run) for name in ("search", "book", "read")]
            agent = RECIPE.StoppingAgent(tools=tools, llm=model.llm, streaming=False, run_of_layer=run)
            return str(await agent.run(user_msg="go"))

    return asyncio.run(main())


def test_model_sees_only_what_it_can_act_on():
    """The recipe's tools recover, and tell the model of what it may correct."""
    kit, model = Kit(), Scripted("search", "book", "book", "done")
    assert "done" == _answer(kit, model)
    kit.told([message.content for message in model.seen[-1] if message.role == "tool"])


def test_stop_is_the_end():
    """After a permission error no model is asked, and the fixed message is the answer."""
    model = Scripted("read", "never")
    assert STOP_MESSAGES["permission"] == _answer(Kit(), model)
    assert 1 == len(model.seen)


def test_failing_tool_is_run_once_for_a_call():
    """LlamaIndex runs a tool of one argument that raises twice; the recipe's does not raise."""
    kit, bare = Kit(), Script(TimeoutError("no answer"))

    class Bare(BaseTool):
        metadata = _tool("pay", bare).metadata

        def __call__(self, *args, **arguments):
            return bare(arguments=(args, arguments))

    kit.bench.layer.tool(name="pay")(pay := Script(TimeoutError("no answer")))
    with kit.run() as run:
        call_tool(RECIPE.Recovering(_tool("pay", pay), run), {"query": "lamps"})
    call_tool(Bare(), {"query": "lamps"})

    assert 2 == len(bare.calls)
    assert 1 == len(pay.calls)
