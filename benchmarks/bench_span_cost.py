"""What tracing adds to a tool call: microseconds, and as a ratio to the same span and metrics written by hand.

Each row is measured in the same process, in alternation with its baseline, as CPU time; the least of several rounds
is shown, since everything else on a machine only adds. The tool does nothing, which makes the ratio the worst case.
"""

from __future__ import annotations

from contextvars import copy_context
from time import perf_counter

from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider
from timing import Call, least

from otel_toolerrors.telemetry import Stencil, Tracing
from otel_toolerrors.vocabulary import CallSpan, Scalar

LABELS = {"gen_ai.tool.name": "search", "toolerrors.service": "search-api"}

Tracers = TracerProvider | NoOpTracerProvider
Meters = MeterProvider | NoOpMeterProvider


SHARED = Stencil(
    CallSpan, operation="execute_tool", tool_type="function", agent="triage", run_id="4bf92f3577b34da6",
    source="main_agent", policy="5d41402abc4b2a76",
)  # fmt: skip


def described() -> dict[str, Scalar]:
    """What the layer says about a call that worked at once."""
    return SHARED.filled(
        tool="search", call_id="toolu_01A", index=3, service="search-api", effects="read", arguments="c9f0f895fb98ab91",
        outcome="ok", attempts=1,
    )  # fmt: skip


ATTRIBUTES = described()


def bare() -> None:
    """The tool alone."""


def by_hand(provider: Tracers, meters: Meters) -> Call:
    """A span, two counters and a histogram as anybody would write them."""
    tracer, meter = provider.get_tracer("by hand"), meters.get_meter("by hand")
    calls, attempts = meter.create_counter("calls"), meter.create_counter("attempts")
    duration = meter.create_histogram("duration", "s")

    def call() -> None:
        with tracer.start_as_current_span("execute_tool search", attributes=dict(ATTRIBUTES)):
            start = perf_counter()
            bare()
            calls.add(1, LABELS)
            attempts.add(1, LABELS)
            duration.record(perf_counter() - start, LABELS)

    return call


def traced(provider: Tracers, meters: Meters) -> Call:
    """The layer's own tracing of a call that works at once."""
    run = Tracing(provider, meters).start_run("triage")
    run.activate()

    def call() -> None:
        trace = run.start_call("search", service="search-api")
        trace.attempt_started("search", 1)
        bare()
        trace.attempt_ended(None)
        trace.end(described, ok=True)

    return call


def show(name: str, provider: Tracers, meters: Meters) -> None:
    """Measure and print one row."""
    nothing, hand, layer = least(bare, by_hand(provider, meters), traced(provider, meters))
    print(f"{name:34}{hand - nothing:12.2f}{layer - nothing:10.2f}{(layer - nothing) / (hand - nothing):8.2f}")


def main() -> None:
    """Print the table."""
    sampled, unsampled, absent = TracerProvider(), TracerProvider(sampler=ALWAYS_OFF), NoOpTracerProvider()
    sampled.add_span_processor(SpanProcessor())
    unmetered, metered = NoOpMeterProvider(), MeterProvider([InMemoryMetricReader()])
    print(f"{'':34}{'by hand µs':>12}{'layer µs':>10}{'ratio':>8}")
    for name, provider, meters in (
        ("no SDK", absent, unmetered),
        ("SDK, sampled out", unsampled, unmetered),
        ("SDK, recorded", sampled, unmetered),
        ("SDK, recorded, and three metrics", sampled, metered),
    ):
        copy_context().run(show, name, provider, meters)  # a run's span is current in it


if __name__ == "__main__":
    main()
