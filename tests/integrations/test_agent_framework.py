import asyncio

import pytest

pytest.importorskip("agent_framework", reason="tests the adapter for Microsoft's Agent Framework")

pytest.importorskip("opentelemetry.sdk", reason="spans are kept in memory by the SDK")

from agent_framework import Agent, Content, MiddlewareFailure, UserInputRequiredException, observability, tool
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolerrors import Policy
from otel_toolerrors.integrations.agent_framework import middleware
from otel_toolerrors.testing import Bench, Script, steady
from otel_toolerrors.vocabulary import FaultClassified
from tests.integrations.conformance.adapters.agent_framework import Scripted
from tests.integrations.wire import Ask


def _answering(bench, function, turns, **how):
    """The run's reply, and the client that was asked."""
    client = Scripted(turns)

    async def main():
        agent = Agent(client=client, name="triage", tools=[tool(function, approval_mode="never_require")])
        with bench.layer.run() as run:
            reply = agent.run("go", middleware=middleware(run), **how)
            return await reply.get_final_response() if how.get("stream") else await reply

    return asyncio.run(main()), client


def test_bad_arguments_are_the_models_to_correct():
    """The framework's own check of the arguments is a validation error, and the tool is not called."""
    bench = Bench()

    def pay(amount: int) -> str:
        raise AssertionError(amount)

    _answering(bench, pay, [[Ask("a1", "pay", {"amount": "much"})], "done"])

    assert ["validation"] == [fault.category for fault in bench.of(FaultClassified)]


@pytest.mark.parametrize("how", [{}, {"stream": True}], ids=["whole", "streamed"])
def test_stopped_run_answers_in_the_models_place(how):
    """No request follows a stop; the fixed message is the answer, also of a stream."""
    bench = Bench()

    def read() -> str:
        raise PermissionError(13, "Permission denied")

    reply, client = _answering(bench, read, [[Ask("a1", "read", {})], "never"], **how)

    assert "access was denied" in reply.text
    assert 1 == len(client.offered)


def test_failure_of_a_middleware_passes():
    """What the framework raises to abort itself is no fault."""
    bench = Bench()

    def ask() -> str:
        raise MiddlewareFailure("no")

    with pytest.raises(MiddlewareFailure, match="no"):
        _answering(bench, ask, [[Ask("a1", "ask", {})], "done"])

    assert [] == bench.of(FaultClassified)


def test_question_for_the_user_passes():
    """A tool that needs its user's answer is no fault, and the caller is told."""
    bench = Bench()
    question = Content.from_oauth_consent_request(consent_link="https://example.org/")

    def ask() -> str:
        raise UserInputRequiredException(contents=[question])

    reply, _ = _answering(bench, ask, [[Ask("a1", "ask", {})], "done"])

    assert [] == bench.of(FaultClassified)
    assert reply.user_input_requests


def test_observe_mode_changes_nothing():
    """With an observing policy the framework words the error as ever, and the fault is on record."""
    bench = Bench(steady(Policy(mode="observe")))

    def search() -> str:
        raise ConnectionResetError

    reply, client = _answering(bench, search, [[Ask("a1", "search", {})], "done"])

    assert "done" == reply.text
    assert 2 == len(client.offered)
    assert ["toolerrors.fault.classified"] == [event.NAME for event in bench.events]


def test_framework_has_a_span_for_each_attempt(monkeypatch):
    """With its instrumentation on, the framework's spans of the attempts lie below the call's."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(observability, "get_tracer", lambda *_, **__: provider.get_tracer("agent_framework"))
    monkeypatch.setattr(observability.OBSERVABILITY_SETTINGS, "enable_instrumentation", True)
    bench = Bench(tracer_provider=provider)
    bench.layer.tool(name="search", effects="read")(play := Script(ConnectionResetError(), "found it"))

    def search() -> str:
        return play()

    _answering(bench, search, [[Ask("a1", "search", {})], "done"])

    spans = [span for span in exporter.get_finished_spans() if span.name == "execute_tool search"]
    ours = [span for span in spans if "toolerrors.outcome" in span.attributes]
    assert ["recovered"] == [span.attributes["toolerrors.outcome"] for span in ours]
    assert 2 == len([span for span in spans if span not in ours])
