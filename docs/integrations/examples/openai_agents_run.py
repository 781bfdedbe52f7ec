"""An agent of the OpenAI Agents SDK. The model is the SDK's own scripted one."""

import asyncio

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

import otel_toolerrors as te
from otel_toolerrors.integrations.openai_agents import recovering

set_tracing_disabled(disabled=True)
layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])


@function_tool
@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


model = ScriptedModel(
    [[function_call("search", {"query": "lamps"}, call_id="call_1")], [assistant_message("There is one lamp.")]]
)
agent = Agent(name="catalogue", model=model, tools=[search])


async def main() -> None:
    with layer.run(agent=agent.name) as run:
        result = await Runner.run(recovering(agent, run), "Do we have lamps?")
    print(result.final_output)


asyncio.run(main())
