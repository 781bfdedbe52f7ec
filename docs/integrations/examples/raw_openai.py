"""A loop around OpenAI's Responses API. The model is scripted: a transport answers in its place."""

import httpx2
import openai

import otel_toolerrors as te
from otel_toolerrors.integrations import openai_responses as recovery

layer = te.RecoveryLayer()


@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    raise PermissionError(13, "Permission denied")


CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search", "status": "completed"}


def scripted(request: httpx2.Request) -> httpx2.Response:
    response = {"id": "r1", "object": "response", "created_at": 1, "model": "scripted", "status": "completed"}
    output = [{**CALL, "arguments": '{"query": "lamps"}'}]
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return httpx2.Response(200, json={**response, **settings, "output": output})


http = httpx2.Client(transport=httpx2.MockTransport(scripted))

items = [{"role": "user", "content": "Do we have lamps?"}]
with layer.run(agent="catalogue") as run:
    client = recovery.recovering(openai.OpenAI(api_key="scripted", http_client=http), run)
    while not run.stopped:
        reply = client.responses.create(model="scripted", input=items, tools=recovery.tools(run))
        items += [item.to_dict() for item in reply.output]
        answers = recovery.answer(run, reply.output)
        if not answers:
            break
        items += answers

print(items[-1]["output"])
print(run.stopped.message if run.stopped else reply.output_text)
