"""Loops of one's own, around the real SDK clients."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic
import openai

from otel_toolerrors.integrations import anthropic as messages_api, openai_chat, openai_responses
from tests.integrations.conformance.adapter import Adapter
from tests.integrations.conformance.stage import Seen, Stage
from tests.integrations.wire import serving


@dataclass(frozen=True)
class Form:
    """One provider's wire form, as a loop of one's own uses it."""

    name: str
    recovery: Any
    clients: tuple[Callable[..., Any], Callable[..., Any]]
    """Sync and async."""
    send: Callable[[Any, list[Any], list[Any]], Any]
    """Makes a request."""
    take: Callable[[Any], tuple[list[Any], Any, str | None]]
    """What to append of a reply, what to answer, and the final text if there is nothing to answer."""
    results: Callable[[Any], dict[str, tuple[str, bool | None]]]
    """Tool results in one item of the history."""
    offered: Callable[[dict[str, Any]], str]


def _take_message(reply: Any) -> tuple[list[Any], Any, str | None]:
    final = reply.content[0].text if reply.stop_reason == "end_turn" else None
    return [{"role": "assistant", "content": reply.content}], reply, final


def _message_results(message: Any) -> dict[str, tuple[str, bool | None]]:
    blocks = message["content"] if isinstance(message["content"], list) else []
    results = [block for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]
    return {result["tool_use_id"]: (result["content"], result.get("is_error", False)) for result in results}


def _take_completion(reply: Any) -> tuple[list[Any], Any, str | None]:
    message = reply.choices[0].message
    return [message.to_dict()], message, message.content


def _completion_results(message: Any) -> dict[str, tuple[str, bool | None]]:
    return {message["tool_call_id"]: (message["content"], None)} if message["role"] == "tool" else {}


def _response_results(item: Any) -> dict[str, tuple[str, bool | None]]:
    return {item["call_id"]: (item["output"], None)} if item.get("type") == "function_call_output" else {}


FORMS = (
    Form(
        "Anthropic Messages",
        messages_api,
        (anthropic.Anthropic, anthropic.AsyncAnthropic),
        lambda client, messages, tools: client.messages.create(
            model="scripted", max_tokens=64, messages=messages, tools=tools
        ),
        _take_message,
        _message_results,
        lambda tool: tool["name"],
    ),
    Form(
        "OpenAI Chat",
        openai_chat,
        (openai.OpenAI, openai.AsyncOpenAI),
        lambda client, messages, tools: client.chat.completions.create(
            model="scripted", messages=messages, tools=tools
        ),
        _take_completion,
        _completion_results,
        lambda tool: tool["function"]["name"],
    ),
    Form(
        "OpenAI Responses",
        openai_responses,
        (openai.OpenAI, openai.AsyncOpenAI),
        lambda client, items, tools: client.responses.create(model="scripted", input=items, tools=tools),
        lambda reply: ([item.to_dict() for item in reply.output], reply.output, reply.output_text or None),
        _response_results,
        lambda tool: tool["name"],
    ),
)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _loop(form: Form, client: Any, run: Any, history: list[Any], answer: Any) -> str:
    """The loop that users write; for the sync clients, nothing in it ever waits."""
    while True:
        reply = await _awaited(form.send(client, history, form.recovery.tools(run)))
        added, asked, final = form.take(reply)
        history += added
        if final is not None:
            return final
        answers = await _awaited(answer(run, asked))
        history += answers if isinstance(answers, list) else [answers]
        if run.stopped:
            return run.stopped.message


def _converse(form: Form, *, asynchronous: bool) -> Callable[[Stage], Seen]:
    def converse(stage: Stage) -> Seen:
        seen, history = Seen(), [{"role": "user", "content": "go"}]
        answer = form.recovery.aanswer if asynchronous else form.recovery.answer

        with serving(stage.turns) as provider:
            url = provider.url if form.recovery is messages_api else f"{provider.url}/v1"

            async def conversation() -> None:
                client = form.recovery.once(form.clients[asynchronous](api_key="k", base_url=url))
                assert 0 == client.max_retries
                with stage.layer.run(agent="triage") as run:
                    try:
                        seen.final = await _loop(form, client, run, history, answer)
                    except BaseException as error:  # noqa: BLE001 - an interruption is what is tested
                        seen.raised = error
                        stage.go_on()
                        history[:] = form.recovery.complete(run, history)
                        history.append({"role": "user", "content": "go on"})
                        reply = await _awaited(form.send(client, history, form.recovery.tools(run)))
                        seen.continued = form.take(reply)[2] == "done"
                await _awaited(client.close())

            stage.drive(conversation())
            assert [] == provider.refused
        for item in history:
            for call_id, (text, flag) in form.results(item).items():
                seen.results[call_id] = text
                if flag is not None:
                    seen.flags[call_id] = flag
        seen.requests = len(provider.requests)
        seen.offered = [[form.offered(tool) for tool in request["tools"]] for request in provider.requests]
        return seen

    return converse


class Paused(BaseException):
    """The loop's own signal that somebody must be asked first."""


def _pause() -> None:
    raise Paused


ADAPTERS = tuple(
    Adapter(
        f"{form.name} ({'async' if asynchronous else 'sync'})",
        _converse(form, asynchronous=asynchronous),
        asynchronous=asynchronous,
        interrupt=_pause,
    )
    for form in FORMS
    for asynchronous in (False, True)
)
