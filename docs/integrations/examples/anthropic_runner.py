"""The tool runner of Anthropic's SDK. The model is scripted: a transport answers in its place."""

import anthropic
import httpx2

import otel_toolerrors as te
from otel_toolerrors.integrations.anthropic import once
from otel_toolerrors.integrations.anthropic_runner import guarded, until_stopped

layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])


@anthropic.beta_tool
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
client = once(anthropic.Anthropic(api_key="scripted", http_client=http))

with layer.run(agent="catalogue") as run:
    runner = client.beta.messages.tool_runner(
        model="scripted",
        max_tokens=256,
        thread=False,
        messages=[{"role": "user", "content": "Do we have lamps?"}],
        tools=guarded(run, [search]),
    )
    for message in until_stopped(run, runner):
        reply = message

print(run.stopped.message if run.stopped else reply.content[0].text)
