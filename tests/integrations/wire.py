"""A local server that speaks the wire forms of Anthropic's and OpenAI's APIs, from a script of turns.

It stands in for the models, which cannot run here; the SDK clients that talk to it are the real ones. As the real
APIs do, it refuses a transcript with an unanswered tool call or an empty error.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Ask:
    """A tool call that the scripted model asks for."""

    call_id: str
    tool: str
    arguments: dict[str, Any] | str = field(default_factory=lambda: {"q": "x"})

    @property
    def json(self) -> str:
        """The arguments as text; a string is taken as what the model wrote."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


Turn = Sequence[Ask] | str


@dataclass(frozen=True)
class Outage:
    """An answer that is an error."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "try later"


class Provider:
    """What the server received, and what it will say next."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.url = ""
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.outages: list[Outage] = []
        """What to answer with before the script goes on."""

    def reply(self, path: str, request: dict[str, Any]) -> tuple[int, dict[str, str], dict[str, Any] | str]:
        """Answer one request, with JSON or with the text of a stream."""
        self.requests.append(request)
        if self.outages:
            outage = self.outages.pop(0)
            return outage.status, outage.headers, _error(outage.status, outage.message)
        speaks = next(dialect for end, dialect in _DIALECTS.items() if path.split("?", maxsplit=1)[0].endswith(end))
        if (problem := speaks.problem(request)) is not None:
            self.refused.append(problem)
            return 400, {}, _error(400, problem)
        if request.get("stream"):
            return 200, {}, speaks.broken_stream
        return 200, {}, speaks.say(self.turns.pop(0))


def _error(status: int, message: str) -> dict[str, Any]:
    kind = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


@contextmanager
def serving(turns: Sequence[Turn]) -> Iterator[Provider]:
    """Serve a script on loopback."""
    provider = Provider(turns)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, headers, payload = provider.reply(self.path, request)
            streams = isinstance(payload, str)
            body = (payload if streams else json.dumps(payload)).encode()
            kind = "text/event-stream" if streams else "application/json"
            self.send_response(status)
            for name, value in {**headers, "content-type": kind, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


# Anthropic Messages


def _say_message(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, str):
        content, why = [{"type": "text", "text": turn}], "end_turn"
    else:
        content = [{"type": "tool_use", "id": a.call_id, "name": a.tool, "input": a.arguments} for a in turn]
        why = "tool_use"
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": content,
        "stop_reason": why, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def _problem_of_messages(request: dict[str, Any]) -> str | None:
    owed: set[str] = set()
    for message in request["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block.get("type") == "tool_result" and block.get("is_error") and not block.get("content"):
                return "tool_result: content cannot be empty if is_error is true"
        owed -= {block.get("tool_use_id") for block in blocks}
        if owed:
            return f"tool_use ids were found without tool_result blocks immediately after: {sorted(owed)}"
        owed = {block["id"] for block in blocks if block.get("type") == "tool_use"}
    return f"unanswered: {sorted(owed)}" if owed else None


# OpenAI Chat Completions


def _say_completion(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
    if not isinstance(turn, str):
        message["tool_calls"] = [
            {"id": a.call_id, "type": "function", "function": {"name": a.tool, "arguments": a.json}} for a in turn
        ]
    why = "stop" if isinstance(turn, str) else "tool_calls"
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": why, "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip


def _problem_of_completions(request: dict[str, Any]) -> str | None:
    owed: set[str] = set()
    for message in request["messages"]:
        if message["role"] == "tool":
            owed.discard(message["tool_call_id"])
            continue
        if owed:
            break
        owed = {call["id"] for call in message.get("tool_calls") or ()}
    return f"tool_calls must be followed by tool messages: {sorted(owed)}" if owed else None


# OpenAI Responses


def _say_response(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, str):
        text = {"type": "output_text", "text": turn, "annotations": []}
        output = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [text]}]
    else:
        output = [
            {"type": "function_call", "id": f"fc_{a.call_id}", "call_id": a.call_id, "name": a.tool,
             "arguments": a.json, "status": "completed"}
            for a in turn
        ]  # fmt: skip
    return {
        "id": "r1", "object": "response", "created_at": 1, "model": "scripted", "status": "completed", "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True,
        "temperature": 1, "tool_choice": "auto", "tools": [], "top_p": 1, "output": output,
        "usage": {
            "input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }  # fmt: skip


def _problem_of_responses(request: dict[str, Any]) -> str | None:
    items = request["input"] if isinstance(request["input"], list) else []
    calls = {item["call_id"] for item in items if item.get("type") == "function_call"}
    given = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    return f"No tool output found for function call {sorted(calls - given)}" if calls - given else None


# Streams that begin well, and break off with an error


def _events(*events: dict[str, Any]) -> str:
    named = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
    return "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(named, events, strict=True))


_OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}


def _broken_message() -> str:
    empty = {**_say_message(""), "content": [], "stop_reason": None}
    return _events(
        {"type": "message_start", "message": empty},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
        {"type": "error", "error": _OVERLOADED},
    )


def _broken_completion() -> str:
    choice = {"index": 0, "delta": {"role": "assistant", "content": "Hel"}, "finish_reason": None}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}
    return _events(chunk, {"error": _OVERLOADED})


def _broken_response() -> str:
    begun = {**_say_response(""), "status": "in_progress", "output": []}
    delta = {"item_id": "m1", "output_index": 0, "content_index": 0, "delta": "Hel", "logprobs": []}
    return _events(
        {"type": "response.created", "sequence_number": 0, "response": begun},
        {"type": "response.output_text.delta", "sequence_number": 1, **delta},
        {"type": "error", "sequence_number": 2, "code": "server_error", "message": "Overloaded", "param": None},
    )


@dataclass(frozen=True)
class _Dialect:
    say: Callable[[Turn], dict[str, Any]]
    problem: Callable[[dict[str, Any]], str | None]
    broken_stream: str


_DIALECTS = {
    "/messages": _Dialect(_say_message, _problem_of_messages, _broken_message()),
    "/chat/completions": _Dialect(_say_completion, _problem_of_completions, _broken_completion()),
    "/responses": _Dialect(_say_response, _problem_of_responses, _broken_response()),
}
