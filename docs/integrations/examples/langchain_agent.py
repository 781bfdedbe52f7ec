"""A LangChain agent. The model is LangChain's own fake."""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

import otel_toolerrors as te
from otel_toolerrors.integrations.langchain import RecoveryMiddleware

layer = te.RecoveryLayer()
resets = iter([ConnectionResetError("connection reset"), None])


@tool
@layer.tool(effects="read")
def search(query: str) -> str:
    """Search the catalogue."""
    if error := next(resets):
        raise error
    return f"one result for {query}"


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


call = {"name": "search", "args": {"query": "lamps"}, "id": "call_1"}
model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("There is one lamp.")]))
agent = create_agent(model, [search], middleware=[RecoveryMiddleware(layer, agent="catalogue")])

for message in agent.invoke({"messages": [("user", "Do we have lamps?")]})["messages"][2:]:
    print(message.content)
