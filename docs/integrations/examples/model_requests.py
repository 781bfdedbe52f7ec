"""Model requests that recover: a context overflow, then overloads. The provider is scripted: a transport answers."""

import json

import anthropic
import httpx2

import otel_toolerrors as te
from otel_toolerrors.integrations import anthropic as recovery

layer = te.RecoveryLayer()

OVERFLOW = "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
ERRORS = {400: ("invalid_request_error", OVERFLOW), 529: ("overloaded_error", "Overloaded")}
USAGE = {"input_tokens": 1, "output_tokens": 1}
HELLO = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": "Hello."}]}
SOON = {"retry-after-ms": "10"}

SCRIPT = iter([400, 529, 529, 529, 200])


def scripted(request: httpx2.Request) -> httpx2.Response:
    asked = json.loads(request.content)
    status = next(SCRIPT)
    print(status, asked["model"], asked["max_tokens"])
    if status in ERRORS:
        kind, text = ERRORS[status]
        return httpx2.Response(status, headers=SOON, json={"type": "error", "error": {"type": kind, "message": text}})
    end = {"model": asked["model"], "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE}
    return httpx2.Response(status, json=HELLO | end)


http = httpx2.Client(transport=httpx2.MockTransport(scripted))
with layer.run(agent="greeter") as run:
    client = recovery.recovering(anthropic.Anthropic(api_key="scripted", http_client=http), run, "small")
    reply = client.messages.create(model="large", max_tokens=21_333, messages=[{"role": "user", "content": "Hi!"}])

print(reply.content[0].text)
