"""A pydantic-ai agent. The model is a function, as pydantic-ai offers for tests."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import otel_toolerrors as te
from otel_toolerrors.integrations.pydantic_ai import Recovery

layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])
script = iter([ToolCallPart("search", {"query": "lamps"}), TextPart("There is one lamp.")])

model = FunctionModel(lambda messages, info: ModelResponse(parts=[next(script)]))
agent = Agent(model, name="catalogue", capabilities=[Recovery(layer)])


@agent.tool_plain
@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


print(asyncio.run(agent.run("Do we have lamps?")).output)
