"""Makes the files beside it: spans of real instrumentations, around one tool that works and one that fails.

    pip install pydantic-ai-slim openinference-instrumentation-langchain opentelemetry-sdk \
        opentelemetry-exporter-otlp-proto-common
    python tests/analysis/data/foreign/make.py

No model is called: pydantic-ai's own TestModel decides to call the tools.
Stack traces are left out, as they name the machine's folders.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from langchain_core.tools import tool
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.test import TestModel

IDS = {"traceId", "spanId", "parentSpanId"}


def weather(city: str) -> str:
    """Tell the weather."""
    return f"sunny in {city}"


def broken(city: str) -> str:
    """Fail."""
    raise TimeoutError(f"read timed out after 5 s: {city}")


def pydantic_ai(provider: TracerProvider, version: int) -> None:
    """Run an agent with each of the tools."""
    settings = InstrumentationSettings(tracer_provider=provider, version=version)
    for function in (weather, broken):
        agent = Agent(TestModel(), capabilities=[Instrumentation(settings)])
        agent.tool_plain(function)
        try:
            agent.run_sync("what is the weather?")
        except TimeoutError:
            print(f"{function.__name__} failed, as it should")  # noqa: T201


def langchain(provider: TracerProvider) -> None:
    """Invoke each of the tools."""
    LangChainInstrumentor().instrument(tracer_provider=provider)
    for function in (weather, broken):
        try:
            tool(function).invoke({"city": "Rome"})
        except TimeoutError:
            print(f"{function.__name__} failed, as it should")  # noqa: T201


def record(name: str, work: Callable[[TracerProvider], None]) -> None:
    """Write the spans that ``work`` makes, as the collector would."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "fixture"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    work(provider)
    request = tidy(MessageToDict(encode_spans(exporter.get_finished_spans())))
    content = json.dumps(request, separators=(",", ":")) + "\n"
    Path(__file__).with_name(f"{name}.jsonl").write_text(content, encoding="utf-8")


def tidy(node: Any) -> Any:
    """Write ids in hexadecimal digits, and leave out stack traces."""
    match node:
        case {"key": "exception.stacktrace"}:
            return {"key": "exception.stacktrace", "value": {"stringValue": "(left out)"}}
        case {"message": str(message), "code": code}:
            return {"message": message.split("Traceback", 1)[0], "code": code}
        case dict():
            return {k: base64.b64decode(v).hex() if k in IDS else tidy(v) for k, v in node.items()}
        case list():
            return [tidy(item) for item in node]
        case _:
            return node


if __name__ == "__main__":
    record("pydantic_ai_v2", lambda provider: pydantic_ai(provider, 2))
    record("pydantic_ai_v5", lambda provider: pydantic_ai(provider, 5))
    record("openinference_langchain", langchain)
