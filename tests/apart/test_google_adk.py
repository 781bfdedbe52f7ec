import asyncio
import runpy

import pytest

pytest.importorskip("google.adk", reason="ADK needs an environment of its own: make test-apart")

from google.adk.tools import FunctionTool
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolerrors import Policy
from otel_toolerrors.integrations.google_adk import RecoveryPlugin
from otel_toolerrors.testing import Bench, Script, steady
from otel_toolerrors.vocabulary import FaultClassified
from tests.integrations.conformance.adapter import adapters_of, play
from tests.integrations.conformance.adapters.google_adk import Host, approval
from tests.integrations.conformance.scenarios import SCENARIOS
from tests.integrations.test_examples import PRINTS
from tests.integrations.wire import Ask

ADAPTER = adapters_of("google_adk")[0]


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if s.name not in ADAPTER.impossible], ids=lambda s: s.name)
def test_adapter_conforms(scenario):
    """ADK does in every scenario what all adapters do."""
    play(ADAPTER, scenario)


def test_example_runs_and_prints_what_its_page_says(capsys):
    """The documentation's example runs as it stands."""
    runpy.run_path("docs/integrations/examples/google_adk_agent.py", run_name="__main__")

    assert PRINTS["google_adk_agent"][1] in capsys.readouterr().out


def _host(bench, tool, turns, **agent):
    plugin = RecoveryPlugin(bench.layer)
    return Host(turns, [tool], [plugin], **agent), plugin


def test_bad_arguments_are_the_models_to_correct():
    """ADK's own check of the arguments is a validation error, and the tool is not called."""
    bench = Bench()

    def pay(amount: int) -> str:
        raise AssertionError(amount)

    host, _ = _host(bench, pay, [[Ask("a1", "pay", {})], "done"])
    asyncio.run(host.say())

    assert ["validation"] == [fault.category for fault in bench.of(FaultClassified)]


def test_callbacks_of_the_agent_are_asked_as_ever():
    """The agent's own callbacks stand before the recovery: one that answers for the tool is believed."""
    bench = Bench()

    def search() -> str:
        raise ConnectionResetError

    host, _ = _host(
        bench, search, [[Ask("a1", "search", {})], "done"], before_tool_callback=lambda **_: {"result": "no"}
    )
    asyncio.run(host.say())

    assert [{"result": "no"}] == [part.function_response.response for part in host.parts if part.function_response]
    assert [] == bench.events


def test_no_run_is_left_behind():
    """An invocation's run ends with it, also when it crashes."""
    bench = Bench()

    def find() -> str:
        return "found it"

    host, plugin = _host(bench, find, [[Ask("a1", "find", {})], "done"])
    asyncio.run(host.say())
    assert 0 == len(plugin._runs)

    host, plugin = _host(bench, find, [])  # the model has nothing to say
    with pytest.raises(IndexError):
        asyncio.run(host.say())
    assert 0 == len(plugin._runs)


def test_confirmed_call_is_made_by_adk():
    """A known limit: after a confirmation ADK looks the tool up elsewhere, and an error comes out as without us."""
    bench = Bench()

    def search() -> str:
        raise ConnectionResetError

    confirmed = FunctionTool(search, require_confirmation=True)
    host, _ = _host(bench, confirmed, [[Ask("a1", "search", {})], "done"])

    async def converse():
        await host.say()
        await host.say(approval(host))

    with pytest.raises(ConnectionResetError):
        asyncio.run(converse())
    assert [] == bench.events


def test_span_of_adk_tells_what_happened():
    """A call has one span, ADK's own, with the layer's attributes."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    bench = Bench(tracer_provider=provider)
    bench.layer.tool(name="search", effects="read")(play := Script(ConnectionResetError(), "found it"))

    def search() -> str:
        return play()

    host, _ = _host(bench, search, [[Ask("a1", "search", {})], "done"])
    asyncio.run(host.say())

    spans = [span for span in exporter.get_finished_spans() if span.name == "execute_tool search"]
    assert ["recovered"] == [span.attributes["toolerrors.outcome"] for span in spans]


def test_observe_mode_changes_nothing():
    """With an observing policy the error comes out as it would without the plugin, and the fault is on record."""
    bench = Bench(steady(Policy(mode="observe")))

    def search() -> str:
        raise ConnectionResetError

    host, _ = _host(bench, search, [[Ask("a1", "search", {})], "done"])
    with pytest.raises(ConnectionResetError):
        asyncio.run(host.say())

    assert ["toolerrors.fault.classified"] == [event.NAME for event in bench.events]
