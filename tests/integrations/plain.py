# ruff: noqa: ARG001, PLC0415 - the tools fail before they look at anything; one framework is imported at a time
"""An agent in each framework that knows nothing of the layer, with tools that fail; its whole transcript as text."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.integrations.wire import Ask, serving

TURNS = [[Ask("a1", "look", {"q": "x"})], [Ask("a2", "pick", {"q": "y"})], "done"]
FOUND = "connection.reset"
"""Code of what ``look`` fails with. What ``pick`` fails with is a validation error."""


def look(q: str) -> str:
    """Look for something."""
    raise ConnectionResetError(104, "Connection reset by peer")


def pick(q: str) -> str:
    """Pick something."""
    raise ValueError("there is no choice called 'y'")


TOOLS = (look, pick)


def _attempt(ask: Any) -> tuple[str, bool]:
    """What loops of one's own do."""
    try:
        return {"look": look, "pick": pick}[ask[0]](**ask[1]), False
    except Exception as error:  # noqa: BLE001 - as users write it
        return json.dumps({"error": {"message": str(error)}}), True


def _text(*parts: Any) -> str:
    return "\n".join(json.dumps(part, default=repr, sort_keys=True) for part in parts)


def anthropic() -> str:
    """A loop around the Messages API, and the runner."""
    import anthropic as sdk

    def loop(client: Any) -> None:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        while (reply := client.messages.create(model="m", max_tokens=9, messages=messages)).stop_reason == "tool_use":
            results = []
            for block in reply.content:
                content, failed = _attempt((block.name, block.input))
                result = {"type": "tool_result", "tool_use_id": block.id, "content": content, "is_error": failed}
                results.append(result)
            messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]

    def runner(client: Any) -> None:
        tools = [sdk.beta_tool(tool) for tool in TOOLS]
        request = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}], "tools": tools}
        client.beta.messages.tool_runner(thread=False, **request).until_done()

    logging.getLogger("anthropic").setLevel(logging.CRITICAL)
    requests = []
    for converse in (loop, runner):
        with serving(TURNS) as provider:
            with sdk.Anthropic(api_key="k", base_url=provider.url) as client:
                converse(client)
            requests.append(provider.requests)
    return _text(*requests)


def openai() -> str:
    """Loops around Chat Completions and Responses."""
    import openai as sdk

    def chat(client: Any) -> None:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        while calls := (
            reply := client.chat.completions.create(model="m", messages=messages).choices[0].message
        ).tool_calls:
            messages.append(reply.to_dict())
            for call in calls:
                content, _ = _attempt((call.function.name, json.loads(call.function.arguments)))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    def responses(client: Any) -> None:
        items: list[Any] = [{"role": "user", "content": "go"}]
        while not (reply := client.responses.create(model="m", input=items)).output_text:
            for call in reply.output:
                content, _ = _attempt((call.name, json.loads(call.arguments)))
                items += [call.to_dict(), {"type": "function_call_output", "call_id": call.call_id, "output": content}]

    requests = []
    for converse in (chat, responses):
        with serving(TURNS) as provider:
            with sdk.OpenAI(api_key="k", base_url=provider.url) as client:
                converse(client)
            requests.append(provider.requests)
    return _text(*requests)


def langchain_core() -> str:
    """Agents of LangChain, sync and async, whose tools tell the model of their errors."""
    from langchain.agents import create_agent
    from langchain.agents.middleware import wrap_tool_call
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import StructuredTool

    from tests.integrations.conformance.adapters.langchain import _model
    from tests.integrations.conformance.stage import Seen

    @wrap_tool_call
    def tell(request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except Exception as error:  # noqa: BLE001 - as users write it
            return ToolMessage(repr(error), tool_call_id=request.tool_call["id"], status="error")

    tools = [StructuredTool.from_function(tool) for tool in TOOLS]
    agent = create_agent(_model(TURNS, Seen()), tools, middleware=[tell])
    said = agent.invoke({"messages": [("user", "go")]})["messages"]
    return _text([(message.type, message.content, getattr(message, "status", None)) for message in said])


def pydantic_ai() -> str:
    """An agent of pydantic-ai, which ends at the first exception, and one whose tools ask for another try."""
    from pydantic_ai import Agent, ModelRetry, capture_run_messages

    from tests.integrations.conformance.adapters.pydantic_ai import _model
    from tests.integrations.conformance.stage import Seen

    def converse(turns: Any) -> Any:
        agent = Agent(_model(turns, Seen()))
        for tool in TOOLS:
            agent.tool_plain(tool)
        with capture_run_messages() as messages:
            try:
                asyncio.run(agent.run("go"))
            except Exception as error:  # noqa: BLE001 - as users write it
                return [repr(error), *(str(part).partition("timestamp")[0] for m in messages for part in m.parts)]

    assert issubclass(ModelRetry, Exception)
    return _text(converse(TURNS), converse(TURNS[1:]))


def agents() -> str:
    """An agent of the OpenAI Agents SDK: the model is told a sentence."""
    from agents import Agent, Runner, function_tool, set_trace_processors
    from agents.testing import ScriptedModel, assistant_message, function_call

    set_trace_processors([])
    script = [
        [assistant_message(turn)]
        if isinstance(turn, str)
        else [function_call(a.tool, a.arguments, call_id=a.call_id) for a in turn]
        for turn in TURNS
    ]
    agent = Agent(name="plain", model=ScriptedModel(script), tools=[function_tool(tool) for tool in TOOLS])
    result = asyncio.run(Runner.run(agent, "go"))
    return _text(result.to_input_list())


def mcp() -> str:
    """An MCP server and client: the client is told that something failed."""
    from mcp import Client
    from mcp.server.mcpserver import MCPServer

    logging.getLogger("mcp").setLevel(logging.CRITICAL)

    async def converse() -> list[Any]:
        server = MCPServer("plain")
        for tool in TOOLS:
            server.tool()(tool)
        async with Client(server) as client:
            results = [await client.call_tool(turn[0].tool, turn[0].arguments) for turn in TURNS[:2]]
        return [result.model_dump(mode="json") for result in results]

    return _text(asyncio.run(converse()))


def fastmcp() -> str:
    """A FastMCP server and client."""
    from fastmcp import Client, FastMCP

    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)

    async def converse() -> list[Any]:
        server = FastMCP("plain")
        for tool in TOOLS:
            server.tool(tool)
        async with Client(server) as client:
            results = [await client.call_tool(t[0].tool, t[0].arguments, raise_on_error=False) for t in TURNS[:2]]
        return [(result.is_error, [block.model_dump(mode="json") for block in result.content]) for result in results]

    return _text(asyncio.run(converse()))


PLAIN: dict[str, Callable[[], str]] = {
    plain.__name__: plain for plain in (agents, anthropic, fastmcp, langchain_core, mcp, openai, pydantic_ai)
}
"""The agent of each observer, by the framework's top-level module."""


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(PLAIN[sys.argv[1]](), encoding="utf-8")
