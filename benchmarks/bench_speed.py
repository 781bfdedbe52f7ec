"""What recovery costs beside other libraries and code written by hand, as tables for docs/benchmarks/speed.md.

Every tool does nothing and nobody sleeps, so a ratio shows the worst case. In one table all subjects are measured in
the same process, in alternation, as CPU time; the least of several rounds counts. A library that is not installed has
no row: `make bench` installs them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider
from others import OTHERS, Scenario
from timing import aleast, least, table

import otel_toolerrors as te
from otel_toolerrors.vocabulary import CallSpan, to_attributes

Tracers = TracerProvider | NoOpTracerProvider

ENDLESS = te.Policy.model_validate(
    {
        "breaker": {"control": "disabled"},
        "budget": {"capacity": 1e9},
        "run": {"stop_on": []},
    }
)
"""Other libraries know no retry budget and no service breaker: a tool that fails all day would trip ours."""

RECORD = CallSpan(
    operation="execute_tool", tool="search", tool_type="function", agent="triage", run_id="4bf92f3577b34da6", index=3,
    source="main_agent", service="search", effects="read", arguments="c9f0f895fb98ab91", policy="5d41402abc4b2a76",
    outcome="ok", attempts=1,
)  # fmt: skip
KNOWN = {key: value for key, value in to_attributes(RECORD).items() if not key.endswith(("outcome", "attempts"))}


class DownError(ConnectionError):
    """What the tools fail with."""


def tool_for(scenario: Scenario) -> Callable[[], None]:
    """A tool that does nothing, fails twice out of three times, or always fails."""
    made = 0

    def tool() -> None:
        nonlocal made
        made += 1
        if scenario == "exhaust" or (scenario == "fail, fail, ok" and made % 3):
            raise DownError

    return tool


def by_hand(tool: Callable[[], None]) -> Callable[[], None]:
    """The loop that everybody writes."""

    def call() -> None:
        for attempt in range(3):
            try:
                return tool()
            except DownError:
                if attempt == 2:
                    raise
        return None

    return call


def spanned(tool: Callable[[], None], tracers: Tracers) -> Callable[[], None]:
    """The span that everybody writes, with the attributes that ours has."""
    tracer = tracers.get_tracer("by hand")

    def call() -> None:
        with tracer.start_as_current_span("execute_tool search", attributes=dict(KNOWN)) as span:
            tool()
            span.set_attribute("toolerrors.outcome", "ok")
            span.set_attribute("toolerrors.attempts", 1)

    return call


def aspanned(tool: Callable[[], None], tracers: Tracers) -> Callable[[], Any]:
    """The same around an async tool."""
    tracer = tracers.get_tracer("by hand")

    async def atool() -> None:
        tool()

    async def call() -> None:
        with tracer.start_as_current_span("execute_tool search", attributes=dict(KNOWN)) as span:
            await atool()
            span.set_attribute("toolerrors.outcome", "ok")
            span.set_attribute("toolerrors.attempts", 1)

    return call


def layer_for(tracers: Tracers) -> te.RecoveryLayer:
    """A layer that never sleeps."""

    async def asleep(_seconds: float) -> None:
        """Wait for nothing."""

    return te.RecoveryLayer(
        ENDLESS, tracer_provider=tracers, meter_provider=NoOpMeterProvider(), sleep=lambda _seconds: None, asleep=asleep
    )


def ours(scenario: Scenario, tracers: Tracers) -> dict[str, Callable[[], object]]:
    """The layer: a call of a run, and a protected function."""
    layer = layer_for(tracers)
    layer.tool(effects="read", name="search")(tool_for(scenario))
    protected = layer.protect(effects="read", name="search")(tool_for(scenario))
    if scenario == "exhaust":  # one run would remember every failure
        return {"run.call": lambda: layer.alone().call("search"), "@layer.protect": _caught(protected)}
    run = layer.run(agent="triage")
    run.trace.activate()
    return {"run.call": lambda: run.call("search"), "@layer.protect": protected}


def aours(scenario: Scenario, tracers: Tracers) -> dict[str, Callable[[], Any]]:
    """The same for async tools."""
    layer = layer_for(tracers)

    def register(wrap: Callable[..., Any]) -> Any:
        tool = tool_for(scenario)

        async def search() -> None:
            tool()

        return wrap(search)

    register(layer.tool(effects="read", name="search"))
    protected = register(layer.protect(effects="read", name="search"))
    if scenario == "exhaust":
        return {"run.acall": lambda: layer.alone().acall("search"), "@layer.protect": _acaught(protected)}
    run = layer.run(agent="triage")
    run.trace.activate()
    return {"run.acall": lambda: run.acall("search"), "@layer.protect": protected}


def _caught(function: Callable[[], object]) -> Callable[[], object]:
    def call() -> object:
        try:
            return function()
        except DownError:
            return None

    return call


def _acaught(function: Callable[[], Any]) -> Callable[[], Any]:
    async def call() -> object:
        try:
            return await function()
        except DownError:
            return None

    return call


def show(title: str, scenario: Scenario, tracers: Tracers, *, traced: bool) -> None:
    """Measure and print one table of sync calls."""
    subjects: dict[str, Callable[[], object]] = {"bare call": _caught(tool_for(scenario))}
    subjects["loop by hand"] = _caught(by_hand(tool_for(scenario)))
    baselines = []
    if scenario == "happy":
        subjects["span by hand"] = spanned(tool_for(scenario), tracers)
        baselines = ["span by hand"]
    for name, make in OTHERS.items():
        if name.endswith("hooks") <= traced and (call := make(scenario, tool_for(scenario), DownError, tracers)):
            subjects[name] = _caught(call)
            if name.endswith("hooks"):
                baselines.append(name)
    subjects |= ours(scenario, tracers)
    times = least(*subjects.values(), calls=2_000 if scenario == "happy" else 500)
    print(table(title, dict(zip(subjects, times, strict=True)), baselines or ["loop by hand"]))


def ashow(title: str, scenario: Scenario, tracers: Tracers) -> None:
    """Measure and print one table of async calls."""
    tool = tool_for(scenario)

    async def bare() -> None:
        tool()

    subjects: dict[str, Callable[[], Any]] = {"bare call": _acaught(bare)}
    if scenario == "happy":
        subjects["span by hand"] = aspanned(tool_for(scenario), tracers)
    subjects |= aours(scenario, tracers)
    times = aleast(*subjects.values(), calls=2_000 if scenario == "happy" else 500)
    baseline = "span by hand" if scenario == "happy" else "bare call"
    print(table(title, dict(zip(subjects, times, strict=True)), [baseline]))


def main() -> None:
    """Print every table."""
    logging.disable(logging.CRITICAL)
    on = TracerProvider()
    on.add_span_processor(SpanProcessor())
    tracing: dict[str, Tracers] = {
        "no SDK": NoOpTracerProvider(), "sampled out": TracerProvider(sampler=ALWAYS_OFF), "traced": on,
    }  # fmt: skip
    scenarios: tuple[Scenario, ...] = ("happy", "fail, fail, ok", "exhaust")
    for name, tracers in tracing.items():
        for scenario in scenarios:
            title = f"{scenario}, {name}"
            copy_context().run(show, title, scenario, tracers, traced=name == "traced")
            copy_context().run(ashow, f"{title}, async", scenario, tracers)


if __name__ == "__main__":
    main()
