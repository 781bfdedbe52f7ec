"""A loop around Anthropic's Messages API. The model is scripted: a transport answers in its place."""

import anthropic
import httpx2

import otel_toolerrors as te
from otel_toolerrors.integrations import anthropic as recovery

layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])


@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


SCRIPT = iter(
    [
        ("tool_use", {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "lamps"}}),
        ("end_turn", {"type": "text", "text": "There is one lamp."}),
    ]
)


def scripted(request: httpx2.Request) -> httpx2.Response:
    why, block = next(SCRIPT)
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [block]}
    return httpx2.Response(200, json={**message, "stop_reason": why, "stop_sequence": None, "usage": usage})


http = httpx2.Client(transport=httpx2.MockTransport(scripted))
messages = [{"role": "user", "content": "Do we have lamps?"}]
with layer.run(agent="catalogue") as run:
    client = recovery.recovering(anthropic.Anthropic(api_key="scripted", http_client=http), run)
    while not run.stopped:
        reply = client.messages.create(model="scripted", max_tokens=256, messages=messages, tools=recovery.tools(run))
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason != "tool_use":
            break
        messages.append(recovery.answer(run, reply))

print(messages[2]["content"][0]["content"])
print(run.stopped.message if run.stopped else messages[-1]["content"][0].text)
