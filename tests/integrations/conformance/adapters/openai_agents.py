"""The OpenAI Agents SDK's runner."""

from __future__ import annotations

from typing import Any

from agents import Agent, Runner, SQLiteSession, function_tool, set_trace_processors
from agents.testing import ScriptedModel, assistant_message, function_call

from otel_toolerrors.integrations.openai_agents import recovering
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.stage import Seen, Stage

set_trace_processors([])  # or it tries to send its own traces


def _converse(stage: Stage) -> Seen:
    seen = Seen()
    model = ScriptedModel(
        [
            [assistant_message(turn)]
            if isinstance(turn, str)
            else [function_call(a.tool, a.arguments, call_id=a.call_id) for a in turn]
            for turn in stage.turns
        ]
    )
    asks = "ask" in stage.scripts
    tools = [function_tool(function, needs_approval=asks) for function in stage.functions.values()]

    async def conversation() -> None:
        with stage.layer.run(agent="triage") as run:
            agent = recovering(Agent(name="triage", model=model, tools=tools), run)
            session = SQLiteSession("s1")
            try:
                result = await Runner.run(agent, "go", session=session)
                if result.interruptions:
                    state = result.to_state()
                    state.approve(result.interruptions[0])
                    result = await Runner.run(agent, state, session=session)
                    seen.continued = result.final_output == "done"
                seen.final = result.final_output
            except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
                seen.raised = error
                stage.go_on()
                result = await Runner.run(agent, "go on", session=session)
                seen.continued = result.final_output == "done"
            _read(await session.get_items(), seen)
            session.close()

    stage.drive(conversation())
    seen.requests = len(model.calls)
    seen.offered = [[tool.name for tool in call.tools] for call in model.calls]
    return seen


def _read(items: list[Any], seen: Seen) -> None:
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    assert sorted(calls) == sorted(i["call_id"] for i in items if i.get("type") == "function_call_output")
    for item in items:
        if item.get("type") == "function_call_output":
            seen.results[item["call_id"]] = item["output"]


ADAPTERS = (
    Adapter(
        "OpenAI Agents",
        _converse,
        asynchronous=True,
        interrupt=lambda: "yes",
    ),
)
