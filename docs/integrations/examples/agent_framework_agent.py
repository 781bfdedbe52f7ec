"""An agent of Microsoft's Agent Framework. The model is scripted: a client answers in its place."""

import asyncio

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

import otel_toolerrors as te
from otel_toolerrors.integrations.agent_framework import middleware

layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])


@tool(approval_mode="never_require")
@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    turns = iter(
        [
            Content.from_function_call(call_id="call_1", name="search", arguments={"query": "lamps"}),
            Content.from_text("There is one lamp."),
        ]
    )

    async def _inner_get_response(self, **_):
        return ChatResponse(messages=[Message(role="assistant", contents=[next(self.turns)])])


agent = Agent(client=Scripted(), name="catalogue", tools=[search])


async def main() -> None:
    with layer.run(agent=agent.name) as run:
        reply = await agent.run("Do we have lamps?", middleware=middleware(run))
    print(reply.messages[1].contents[0].result)
    print(reply.text)


asyncio.run(main())
