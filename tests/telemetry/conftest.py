"""A tracer, a meter and a logger of the real SDK, kept in memory."""

from dataclasses import dataclass, replace

import pytest
from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolerrors.faults import Fault
from otel_toolerrors.telemetry import Tracing
from otel_toolerrors.telemetry.guard import render
from otel_toolerrors.vocabulary import CallSpan, RunSpan

FAULT = Fault(
    category="transient",
    code="http.503",
    passing=True,
    side_effects="none",
    effects="read",
    message="Service Unavailable",
    fingerprint="9f2b6c01d4e8a7f3",
)
CALL = CallSpan(
    operation="execute_tool",
    tool="search",
    tool_type="function",
    run_id="4bf92f3577b34da6",
    index=0,
    source="main_agent",
    service="search-api",
    effects="read",
    arguments="c9f0f895fb98ab91",
    policy="5d41402abc4b2a76",
    outcome="ok",
    attempts=1,
)
RUN = RunSpan(
    operation="invoke_agent",
    agent="triage",
    run_id="4bf92f3577b34da6",
    source="main_agent",
    arm="context",
    tools="search",
    policy="5d41402abc4b2a76",
    catalog="2026.11",
)


class SteppingClock:
    """A clock that stands still until it is told to move."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        """Say what time it is."""
        return self.now


@dataclass
class Memory:
    """What was recorded."""

    tracer_provider: TracerProvider
    meter_provider: MeterProvider
    logger_provider: LoggerProvider
    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader
    logs: InMemoryLogRecordExporter
    clock: SteppingClock

    def tracing(self, **options):
        """A `Tracing` that records here."""
        return Tracing(self.tracer_provider, self.meter_provider, self.logger_provider, clock=self.clock, **options)

    @property
    def spans(self):
        """Ended spans, in the order in which they ended."""
        return self.exporter.get_finished_spans()

    def span(self, name):
        """The only span of that name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span

    def points(self, metric):
        """The data points of a metric: labels, as sorted pairs, to value, or to count and sum for a histogram."""
        data = self.reader.get_metrics_data()
        metrics = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics] if data else []
        return {
            tuple(sorted(point.attributes.items())): point.value
            if hasattr(point, "value")
            else (point.count, point.sum)
            for m in metrics
            if m.name == metric
            for point in m.data.data_points
        }


@pytest.fixture
def memory():
    """Providers of the real SDK whose exporters keep everything."""
    exporter, reader, logs = InMemorySpanExporter(), InMemoryMetricReader(), InMemoryLogRecordExporter()
    tracer_provider = TracerProvider(shutdown_on_exit=False)
    tracer_provider.add_span_processor(SimpleSpanProcessor(exporter))
    meter_provider = MeterProvider([reader], shutdown_on_exit=False)
    logger_provider = LoggerProvider(shutdown_on_exit=False)
    logger_provider.add_log_record_processor(SimpleLogRecordProcessor(logs))
    yield Memory(tracer_provider, meter_provider, logger_provider, exporter, reader, logs, SteppingClock())
    tracer_provider.shutdown()
    meter_provider.shutdown()
    logger_provider.shutdown()


@pytest.fixture(autouse=True)
def _context_of_its_own():
    """A test begins without a current span, and leaves none behind."""
    token = otel_context.attach(Context())
    yield
    token.var.reset(token)


@pytest.fixture
def fault():
    """A 503 that will pass."""
    return FAULT


@pytest.fixture
def call_span():
    """A function that builds what describes a call, a successful search unless told otherwise."""
    return lambda **changes: lambda: render(replace(CALL, **changes))


@pytest.fixture
def run_span():
    """A function that builds a run's record."""
    return lambda **changes: lambda: replace(RUN, **changes)
