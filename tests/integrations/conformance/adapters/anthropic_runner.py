"""The tool runner of Anthropic's SDK, against a server that speaks the wire form."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import anthropic
from anthropic import beta_async_tool, beta_tool

from otel_toolerrors.integrations import anthropic as messages_api
from otel_toolerrors.integrations.anthropic_runner import auntil_stopped, guarded, until_stopped
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.stage import Seen, Stage
from tests.integrations.wire import serving

SCHEMA: Any = {"type": "object", "properties": {"q": {"type": "string"}}}


class Paused(BaseException):
    """A signal of the program's own."""


def _pause() -> None:
    raise Paused


def _converse(*, asynchronous: bool) -> Callable[[Stage], Seen]:
    def converse(stage: Stage) -> Seen:
        seen = Seen()
        history: list[Any] = [{"role": "user", "content": "go"}]
        make = beta_async_tool if asynchronous else beta_tool

        with serving(stage.turns) as provider:

            async def conversation() -> None:
                kind = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
                client: Any = messages_api.once(kind(api_key="k", base_url=provider.url))
                with stage.layer.run(agent="triage") as run:
                    tools = [make(f, name=n, description=n, input_schema=SCHEMA) for n, f in stage.functions.items()]
                    request = {"model": "scripted", "max_tokens": 64, "thread": False, "messages": list(history)}
                    runner = client.beta.messages.tool_runner(**request, tools=guarded(run, tools))
                    try:
                        if asynchronous:
                            async for message in auntil_stopped(run, runner):
                                history.append({"role": "assistant", "content": message.content})
                                answer = await runner.generate_tool_call_response()
                                history.extend([answer] if answer else [])
                        else:
                            for message in until_stopped(run, runner):
                                history.append({"role": "assistant", "content": message.content})
                                answer = runner.generate_tool_call_response()
                                history.extend([answer] if answer else [])
                    except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
                        seen.raised = error
                        stage.go_on()
                        # The runner keeps no results of a turn that broke off.
                        whole = messages_api.complete(run, history)
                        request["messages"] = [*whole, {"role": "user", "content": "go on"}]
                        reply = client.beta.messages.create(**{k: v for k, v in request.items() if k != "thread"})
                        reply = await reply if asynchronous else reply
                        seen.continued = reply.content[0].text == "done"
                    stop = run.stopped
                    seen.final = stop.message if stop else getattr(history[-1]["content"][0], "text", None)
                with contextlib.suppress(TypeError):
                    await client.close()

            stage.drive(conversation())
            assert [] == provider.refused
        for message in history:
            for block in message["content"] if message["role"] == "user" and message["content"] != "go" else ():
                seen.results[block["tool_use_id"]] = block["content"]
                seen.flags[block["tool_use_id"]] = block.get("is_error", False)
        seen.requests = len(provider.requests)
        return seen

    return converse


ADAPTERS = tuple(
    Adapter(
        f"Anthropic tool runner ({'async' if asynchronous else 'sync'})",
        _converse(asynchronous=asynchronous),
        asynchronous=asynchronous,
        interrupt=_pause,
        impossible={"stream": "the SDK refuses an async generator, which is no coroutine"} if asynchronous else {},
    )
    for asynchronous in (False, True)
)
