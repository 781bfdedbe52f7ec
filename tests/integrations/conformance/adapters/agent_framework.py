"""An agent of Microsoft's Agent Framework, with a scripted client under the framework's own layers."""

from __future__ import annotations

from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)

from otel_toolerrors.integrations.agent_framework import middleware
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.stage import Seen, Stage


class Scripted(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Stands in for a model's client; refuses a transcript with an unanswered call, as the real ones do."""

    def __init__(self, turns: Any) -> None:
        super().__init__()
        self.turns = list(turns)
        self.offered: list[list[str]] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        async def answer() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message(role="assistant", contents=self._say(messages, options))])

        async def updates() -> Any:
            yield ChatResponseUpdate(role="assistant", contents=self._say(messages, options))

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else answer()

    def _say(self, messages: Any, options: Any) -> list[Content]:
        self.offered.append([tool.name for tool in options.get("tools") or ()])
        contents = [content for message in messages for content in message.contents]
        asked = {content.call_id for content in contents if content.type == "function_call"}
        assert asked == {content.call_id for content in contents if content.type == "function_result"}
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            return [Content.from_text(turn)]
        return [Content.from_function_call(call_id=a.call_id, name=a.tool, arguments=a.arguments) for a in turn]


def _converse(stage: Stage) -> Seen:
    seen = Seen()
    client = Scripted(stage.turns)
    asks = "ask" in stage.scripts
    mode = "always_require" if asks else "never_require"
    tools = [tool(function, name=name, approval_mode=mode) for name, function in stage.functions.items()]

    async def conversation() -> None:
        agent = Agent(client=client, name="triage", tools=tools)
        session = agent.create_session()
        with stage.layer.run(agent="triage") as run:
            try:
                reply = await agent.run("go", session=session, middleware=middleware(run))
                if reply.user_input_requests:
                    yes = reply.user_input_requests[0].to_function_approval_response(approved=True)
                    message = Message(role="user", contents=[yes])
                    reply = await agent.run(message, session=session, middleware=middleware(run))
                    seen.continued = reply.text == "done"
                seen.final = reply.messages[-1].text
                _read(reply.messages, seen)
            except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
                seen.raised = error
                stage.go_on()
                reply = await agent.run("go on", session=session, middleware=middleware(run))
                seen.continued = reply.text == "done"

    stage.drive(conversation())
    seen.requests, seen.offered = len(client.offered), client.offered
    return seen


def _read(messages: Any, seen: Seen) -> None:
    for message in messages:
        for content in message.contents:
            if content.type == "function_result":
                seen.results[content.call_id] = str(content.result)


ADAPTERS = (
    Adapter(
        "Microsoft Agent Framework",
        _converse,
        asynchronous=True,
        interrupt=lambda: "yes",
        impossible={"stream": "a generator is turned into its repr before any middleware sees it"},
    ),
)
