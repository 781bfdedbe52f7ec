import asyncio

import pytest

pytest.importorskip("pydantic_ai", reason="tests the adapter for pydantic-ai")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings

from otel_toolerrors import ToolRunTerminated
from otel_toolerrors.integrations.pydantic_ai import Recovery
from otel_toolerrors.testing import Bench, Script
from tests.integrations.conformance.adapters.pydantic_ai import _model
from tests.integrations.conformance.stage import Seen
from tests.integrations.wire import Ask


class Answer(BaseModel):
    """An output that is not text."""

    lamps: int


def _tool(script):
    def search(q: str) -> str:
        """Search."""
        return script(q=q)

    return search


def test_its_own_span_is_enriched():
    """There is one execute_tool span for a call, pydantic-ai's, and it carries what became of the call."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    bench = Bench(tracer_provider=provider)
    traced = Instrumentation(settings=InstrumentationSettings(tracer_provider=provider))
    model = _model([[Ask("a1", "search")], "done"], Seen())
    agent = Agent(model, capabilities=[Recovery(bench.layer), traced])
    agent.tool_plain(bench.layer.tool(effects="read")(_tool(Script(ConnectionResetError(), "found it"))))

    asyncio.run(agent.run("go"))

    spans = exporter.get_finished_spans()
    (call,) = (span for span in spans if span.name.startswith("execute_tool"))
    assert "pydantic-ai" == call.instrumentation_scope.name
    assert ("recovered", 2) == (call.attributes["toolerrors.outcome"], call.attributes["toolerrors.attempts"])
    assert ["toolerrors.fault.classified", "toolerrors.retry.scheduled"] == [event.name for event in call.events]
    assert 2 == len([span for span in spans if span.name == "attempt search"])


def test_stop_of_an_agent_without_text_output_raises():
    """Where the fixed message cannot be the output, the stop is an exception, and no model request is made."""
    bench, seen = Bench(), Seen()
    agent = Agent(
        _model([[Ask("a1", "search")], "never"], seen), output_type=Answer, capabilities=[Recovery(bench.layer)]
    )
    agent.tool_plain(bench.layer.tool(effects="read")(_tool(Script(PermissionError(13, "denied")))))

    with pytest.raises(ToolRunTerminated) as caught:
        asyncio.run(agent.run("go"))

    assert ("permission", 1) == (caught.value.outcome.stop, seen.requests)


def test_runs_share_no_counts():
    """An agent's runs are runs of their own, and the caller can ask each why it stopped."""
    bench, runs = Bench(), []
    turns = [[Ask("a1", "search")], [Ask("a2", "search", {"q": "y"})], "done"] * 2
    agent = Agent(_model(turns, Seen()), capabilities=[Recovery(bench.layer, on_run=runs.append)])
    agent.tool_plain(bench.layer.tool(effects="read")(_tool(Script(ValueError("no")))))

    assert ["done", "done"] == [asyncio.run(agent.run("go")).output for _ in range(2)]
    assert [None, None] == [run.stopped for run in runs]
    assert runs[0].id != runs[1].id
