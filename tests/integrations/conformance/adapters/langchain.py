"""LangChain's agents, and a LangGraph graph with a tool node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from otel_toolerrors.integrations.langchain import RecoveryMiddleware
from otel_toolerrors.integrations.langgraph import tool_wrappers
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.stage import Seen, Stage
from tests.integrations.wire import Turn

CONFIG: Any = {"configurable": {"thread_id": "t1"}}


class ScriptedModel(GenericFakeChatModel):
    """LangChain's own fake model; as providers do, it refuses a transcript with an unanswered call."""

    seen: Any = None

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        self.seen.offered.append([tool.name for tool in tools])
        return self

    def _generate(self, messages: list[AnyMessage], *args: Any, **kwargs: Any) -> Any:
        self.seen.requests += 1
        asked = [call["id"] for message in messages for call in getattr(message, "tool_calls", ())]
        given = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
        assert sorted(asked) == sorted(given), "every call is answered once"
        return super()._generate(messages, *args, **kwargs)


def _model(turns: Sequence[Turn], seen: Seen) -> ScriptedModel:
    replies = [
        AIMessage(turn)
        if isinstance(turn, str)
        else AIMessage("", tool_calls=[{"id": a.call_id, "name": a.tool, "args": a.arguments} for a in turn])
        for turn in turns
    ]
    return ScriptedModel(messages=iter(replies), seen=seen)


def _tools(stage: Stage) -> list[StructuredTool]:
    how = "coroutine" if stage.asynchronous else "func"
    return [StructuredTool.from_function(**{how: function}, name=name) for name, function in stage.functions.items()]


def _converse(build: Callable[[Stage, Seen, Any], Any]) -> Callable[[Stage], Seen]:
    def converse(stage: Stage) -> Seen:
        seen = Seen()

        async def conversation() -> None:
            with stage.layer.run() as run:
                agent = build(stage, seen, run)

                async def say(message: Any) -> dict[str, Any]:
                    said = message if isinstance(message, Command) else {"messages": [("user", message)]}
                    return await agent.ainvoke(said, CONFIG) if stage.asynchronous else agent.invoke(said, CONFIG)

                try:
                    if "__interrupt__" in await say("go"):
                        seen.continued = "done" == (await say(Command(resume="yes")))["messages"][-1].content
                except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
                    seen.raised = error
                    stage.go_on()
                    if build is _agent:
                        seen.continued = "done" == (await say("go on"))["messages"][-1].content
                messages = agent.get_state(CONFIG).values["messages"]
                for message in messages:
                    if isinstance(message, ToolMessage):
                        seen.results[message.tool_call_id] = message.content
                        seen.flags[message.tool_call_id] = message.status == "error"
                stop = run.stopped
                seen.final = stop.message if stop and build is _graph else messages[-1].content

        stage.drive(conversation())
        return seen

    return converse


def _agent(stage: Stage, seen: Seen, _: Any) -> Any:
    middleware = RecoveryMiddleware(stage.layer, agent="triage")
    model = _model(stage.turns, seen)
    return create_agent(model, _tools(stage), middleware=[middleware], checkpointer=InMemorySaver())


def _graph(stage: Stage, seen: Seen, run: Any) -> Any:
    model = _model(stage.turns, seen)
    graph = StateGraph(MessagesState)

    def ask(state: Any) -> Any:
        offered = [tool for tool in _tools(stage) if tool.name not in run.degraded]
        return {"messages": [model.bind_tools(offered).invoke(state["messages"])]}

    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode(_tools(stage), **tool_wrappers(run)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_conditional_edges("tools", lambda _: END if run.stopped else "model")
    return graph.compile(checkpointer=InMemorySaver())


_NO_STREAMS = {"stream": "a generator is turned into its repr, and an async one awaited, before any wrapper sees it"}

ADAPTERS = tuple(
    Adapter(
        f"{name} ({'async' if asynchronous else 'sync'})",
        _converse(build),
        asynchronous=asynchronous,
        interrupt=lambda: interrupt("may I?"),
        impossible=_NO_STREAMS,
    )
    for name, build in (("LangChain agent", _agent), ("LangGraph ToolNode", _graph))
    for asynchronous in (False, True)
)
