# ruff: noqa: PLC0415 - ADK needs an environment of its own, and the table is written without it
"""Google ADK's runner, with a model of ADK's own kind that plays a script."""

from __future__ import annotations

from typing import Any

from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.stage import Seen, Stage
from tests.integrations.wire import Turn


class Host:
    """An application with one agent, and its conversation."""

    def __init__(self, turns: Any, tools: Any, plugins: Any, **agent: Any) -> None:
        from google.adk.agents import LlmAgent
        from google.adk.apps import App
        from google.adk.runners import InMemoryRunner

        self.model = _scripted(turns)
        triage = LlmAgent(name="triage", model=self.model, tools=list(tools), **agent)
        self._runner = InMemoryRunner(app=App(name="app", root_agent=triage, plugins=list(plugins)))
        self.events: list[Any] = []

    async def say(self, *parts: Any) -> None:
        """Send a message, and keep what comes back."""
        from google.genai import types

        sessions = self._runner.session_service
        how = {"app_name": "app", "user_id": "u", "session_id": "s"}
        if await sessions.get_session(**how) is None:
            await sessions.create_session(**how)
        said = types.UserContent([*parts] or "go")
        async for event in self._runner.run_async(user_id="u", session_id="s", new_message=said):
            self.events.append(event)

    @property
    def parts(self) -> list[Any]:
        """All parts of all messages so far."""
        return [part for event in self.events for part in (event.content.parts if event.content else ())]


def _scripted(turns: Any) -> Any:
    from google.adk.models import BaseLlm, LlmResponse
    from google.genai import types

    def part(ask: Any) -> Any:
        return types.Part(function_call=types.FunctionCall(id=ask.call_id, name=ask.tool, args=ask.arguments))

    class Scripted(BaseLlm):
        turns: list[Turn]
        offered: list[list[str]]

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:  # noqa: ARG002, FBT001, FBT002 - ADK's
            declared = [one for tool in llm_request.config.tools or () for one in tool.function_declarations or ()]
            self.offered.append([one.name for one in declared])
            turn = self.turns.pop(0)
            said = [types.Part(text=turn)] if isinstance(turn, str) else [part(ask) for ask in turn]
            yield LlmResponse(content=types.ModelContent(said))

    return Scripted(model="scripted", turns=list(turns), offered=[])


def approval(host: Host) -> Any:
    """The user's yes to the question that ADK put instead of a result; None if it put none."""
    from google.genai import types

    name = "adk_request_confirmation"
    asked = [part.function_call for part in host.parts if part.function_call and part.function_call.name == name]
    if not asked:
        return None
    yes = types.FunctionResponse(id=asked[0].id, name=name, response={"confirmed": True})
    return types.Part(function_response=yes)


def _converse(stage: Stage) -> Seen:
    from google.adk.tools import FunctionTool

    from otel_toolerrors.integrations.google_adk import RecoveryPlugin

    seen = Seen()
    asks = "ask" in stage.scripts
    tools = [FunctionTool(function, require_confirmation=asks) for function in stage.functions.values()]
    for function in stage.functions.values():
        function.__annotations__ = {"q": str}
    host = Host(stage.turns, tools, [RecoveryPlugin(stage.layer)])

    async def conversation() -> None:
        try:
            await host.say()
            if (yes := approval(host)) is not None:
                await host.say(yes)
                seen.continued = host.parts[-1].text == "done"
        except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
            seen.raised = error
            stage.go_on()
            await host.say()
            seen.continued = host.parts[-1].text == "done"

    stage.drive(conversation())
    for part in host.parts:
        if part.function_response and part.function_response.name in stage.functions:
            said = part.function_response.response
            seen.results[part.function_response.id] = str(said.get("result", said.get("error")))
            seen.flags[part.function_response.id] = "error" in said
    seen.final = host.parts[-1].text
    seen.requests, seen.offered = len(host.model.offered), host.model.offered
    return seen


ADAPTERS = (
    Adapter(
        "Google ADK",
        _converse,
        asynchronous=True,
        interrupt=lambda: "yes",
        impossible={"stream": "a generator becomes a node of a workflow, which may say one thing, once"},
    ),
)
