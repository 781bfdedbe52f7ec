"""pydantic-ai's agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai import Agent, ModelRetry, capture_run_messages
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from otel_toolerrors.integrations.pydantic_ai import Recovery
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.stage import Seen, Stage
from tests.integrations.wire import Turn


def _model(turns: Sequence[Turn], seen: Seen) -> FunctionModel:
    script = iter(turns)

    def reply(messages: list[Any], info: Any) -> ModelResponse:
        seen.requests += 1
        seen.offered.append([tool.name for tool in info.function_tools])
        parts = [part for message in messages for part in message.parts]
        asked = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
        given = [part.tool_call_id for part in parts if isinstance(part, ToolReturnPart | RetryPromptPart)]
        assert sorted(asked) == sorted(given), "every call is answered once"
        turn = next(script)
        if isinstance(turn, str):
            return ModelResponse(parts=[TextPart(turn)])
        return ModelResponse(parts=[ToolCallPart(a.tool, a.arguments, a.call_id) for a in turn])

    return FunctionModel(reply)


def _converse(stage: Stage) -> Seen:
    seen = Seen()

    async def conversation() -> None:
        agent = Agent(_model(stage.turns, seen), capabilities=[Recovery(stage.layer)])
        for name, function in stage.functions.items():
            agent.tool_plain(function, name=name)
        with capture_run_messages() as messages:
            try:
                seen.final = (await agent.run("go")).output
            except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
                seen.raised = error
        if seen.raised is not None:
            stage.go_on()
            result = await agent.run("go on", message_history=messages)
            seen.continued = result.output == "done"
        for part in (part for message in messages for part in message.parts):
            if isinstance(part, ToolReturnPart):
                seen.results[part.tool_call_id] = part.content
                seen.flags[part.tool_call_id] = part.outcome == "failed"
        retried = [part for message in messages for part in message.parts if isinstance(part, RetryPromptPart)]
        if retried or any("may I?" in str(text) for text in seen.results.values()):
            seen.continued = seen.final == "done"

    stage.drive(conversation())
    return seen


def _ask_again() -> None:
    raise ModelRetry("may I?")


ADAPTERS = (
    Adapter(
        "pydantic-ai",
        _converse,
        asynchronous=True,
        interrupt=_ask_again,
    ),
)
