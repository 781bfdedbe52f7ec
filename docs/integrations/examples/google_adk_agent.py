"""An agent of Google's ADK. The model is scripted: a class answers in its place."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

import otel_toolerrors as te
from otel_toolerrors.integrations.google_adk import RecoveryPlugin

layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])


@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


TURNS = iter(
    [
        types.Part(function_call=types.FunctionCall(id="call_1", name="search", args={"query": "lamps"})),
        types.Part(text="There is one lamp."),
    ]
)


class Scripted(BaseLlm):
    async def generate_content_async(self, *_, **__):
        yield LlmResponse(content=types.ModelContent(next(TURNS)))


agent = LlmAgent(name="catalogue", model=Scripted(model="scripted"), tools=[search])
app = App(name="shop", root_agent=agent, plugins=[RecoveryPlugin(layer)])


async def main() -> None:
    runner = InMemoryRunner(app=app)
    await runner.session_service.create_session(app_name="shop", user_id="u", session_id="s")
    said = types.UserContent("Do we have lamps?")
    async for event in runner.run_async(user_id="u", session_id="s", new_message=said):
        for part in event.content.parts:
            print(part.function_response.response if part.function_response else part.text or part.function_call.name)


asyncio.run(main())
