"""Events in their two forms, and the metrics that follow from calls and events."""

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_toolerrors.telemetry import Tracing, bridge_events
from otel_toolerrors.telemetry.instruments import Instruments
from otel_toolerrors.vocabulary import (
    EVENTS,
    METRICS,
    BreakerMoved,
    CallCancelled,
    ErrorSurfaced,
    FaultClassified,
    RetryScheduled,
    attributes_of,
    to_attributes,
)

SCHEDULED = RetryScheduled(
    tool="search", attempt=1, delay=0.5, basis="backoff", code="http.503", fingerprint="9f2b6c01d4e8a7f3"
)
CLASSIFIED = FaultClassified(
    tool="search",
    attempt=1,
    category="transient",
    code="http.503",
    passing=True,
    retryable=True,
    side_effects="none",
    fingerprint="9f2b6c01d4e8a7f3",
    message="Service Unavailable",
    signal="status",
    strength="strong",
)
SURFACED = ErrorSurfaced(
    tool="search",
    category="transient",
    code="http.503",
    fingerprint="9f2b6c01d4e8a7f3",
    target="b1946ac92492d234",
    failures=1,
    tokens=148,
    injected_tokens=96,
    arm="context",
)


def moved(to_state, *, breaker="service", name="search-api"):
    """A breaker that moved from closed to ``to_state``."""
    return BreakerMoved(
        breaker=breaker, name=name, from_state="closed", to_state=to_state, reason="failure_rate", failures=7, calls=10
    )


def one_call(tracing, call_span, *events, ok=True):
    """Make one call in which ``events`` happen."""
    run = tracing.start_run("triage")
    call = run.start_call("search", service="search-api")
    for event in events:
        call.event(event)
    call.end(call_span(), ok=ok)


def example(kind):
    """An event of that kind, made of its own documented examples."""
    return kind(**{name: attribute.example for name, attribute in attributes_of(kind).items()})


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.NAME)
def test_every_event_becomes_a_span_event(memory, call_span, kind):
    """Each event of the vocabulary arrives under its name with all its attributes."""
    event = example(kind)
    one_call(memory.tracing(), call_span, event)
    (sent,) = memory.span("execute_tool search").events
    assert (sent.name, dict(sent.attributes)) == (kind.NAME, to_attributes(event))
    assert memory.points("toolerrors.telemetry.dropped") == {}


def test_events_as_log_records(memory, call_span):
    """As log records events have the same names and attributes, a time, and the call's ids."""
    one_call(memory.tracing(event_signal="logs"), call_span, SCHEDULED)
    (log,) = memory.logs.get_finished_logs()
    record, span = log.log_record, memory.span("execute_tool search")
    assert (record.event_name, dict(record.attributes)) == (SCHEDULED.NAME, to_attributes(SCHEDULED))
    assert (record.trace_id, record.span_id) == (span.context.trace_id, span.context.span_id)
    assert span.start_time <= record.timestamp <= span.end_time
    assert span.events == ()


def test_events_as_both(memory, call_span):
    """Both forms at once if asked for."""
    one_call(memory.tracing(event_signal="both"), call_span, SCHEDULED)
    assert len(memory.logs.get_finished_logs()) == 1
    assert len(memory.span("execute_tool search").events) == 1


def test_log_records_do_not_depend_on_sampling(memory, call_span):
    """Events that are log records are sent for calls that are not sampled, too."""
    unsampled = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    tracing = Tracing(unsampled, memory.meter_provider, memory.logger_provider, event_signal="logs")
    call = tracing.start_run("triage").start_call("search", service="search-api")
    assert call.recording
    call.event(SCHEDULED)
    call.end(call_span(), ok=True)
    assert len(memory.logs.get_finished_logs()) == 1


def test_a_run_has_events_of_its_own(memory, run_span):
    """What happens to the run and to no call is an event of the run's span."""
    run = memory.tracing().start_run("triage")
    run.event(moved("open"))
    run.end(run_span())
    assert [event.name for event in memory.span("invoke_agent triage").events] == ["toolerrors.breaker.moved"]


def test_the_bridge_copies_events_onto_their_span(memory, call_span):
    """With the bridge, events that are log records show in their span as well; ordinary log records do not."""
    provider = LoggerProvider(shutdown_on_exit=False)
    kept = InMemoryLogRecordExporter()
    bridge_events(provider)
    provider.add_log_record_processor(SimpleLogRecordProcessor(kept))
    tracing = Tracing(memory.tracer_provider, memory.meter_provider, provider, event_signal="logs")
    call = tracing.start_run("triage").start_call("search", service="search-api")
    call.event(SCHEDULED)
    other = provider.get_logger("other")
    other.emit(body="no event")
    assert not hasattr(other, "enabled") or other.enabled(event_name="any")  # older SDKs do not ask
    call.end(call_span(), ok=True)
    other.emit(event_name="outside")
    (copied,) = memory.span("execute_tool search").events
    assert (copied.name, dict(copied.attributes)) == (SCHEDULED.NAME, to_attributes(SCHEDULED))
    assert copied.timestamp == kept.get_finished_logs()[0].log_record.timestamp
    assert provider.force_flush()
    provider.shutdown()


@pytest.mark.parametrize(
    "ending",
    [(0, True, "ok"), (1, True, "recovered"), (1, False, "failed_without_retry"), (2, False, "failed_with_retry")],
    ids=lambda ending: ending[2],
)
def test_calls_are_counted_by_four_outcomes(memory, call_span, fault, ending):
    """Each ending of a call counts as one of four, and all its attempts are counted."""
    failures, ok, outcome = ending
    call = memory.tracing().start_run("triage").start_call("search", service="search-api")
    attempts = failures + ok
    for number in range(1, attempts + 1):
        call.attempt_started("search", number)
        call.attempt_ended(fault if number <= failures else None)
    call.end(call_span(error_type=None if ok else "http.503"), ok=ok)
    category = (("toolerrors.category", "transient"),) if failures else ()
    labels = (
        ("gen_ai.tool.name", "search"), *category,
        ("toolerrors.retry.outcome", outcome), ("toolerrors.service", "search-api"),
    )  # fmt: skip
    assert memory.points("toolerrors.calls") == {labels: 1}
    assert sum(memory.points("toolerrors.attempts").values()) == attempts


def test_durations_are_measured_on_the_given_clock(memory, call_span):
    """The duration of a call covers all of it, and carries error.type only if the call failed."""
    run = memory.tracing().start_run("triage")
    for ok in (True, False):
        call = run.start_call("search", service="search-api")
        memory.clock.now += 2.5
        call.end(call_span(error_type=None if ok else "http.503"), ok=ok)
    assert memory.points("gen_ai.execute_tool.duration") == {
        (("gen_ai.tool.name", "search"),): (1, 2.5),
        (("error.type", "http.503"), ("gen_ai.tool.name", "search")): (1, 2.5),
    }


def test_a_failure_without_a_code_is_other(memory, call_span):
    """A failed call always has an error.type, as the conventions want it."""
    one_call(memory.tracing(), call_span, ok=False)
    ((labels, _),) = memory.points("gen_ai.execute_tool.duration").items()
    assert ("error.type", "_OTHER") in labels


def test_cancelled_calls_are_neither_good_nor_bad(memory, call_span):
    """A cancelled call does not count as a success of its tool, nor as a failure."""
    one_call(memory.tracing(), call_span, CallCancelled(tool="search", reason="cancelled", side_effects="none"))
    assert memory.points("toolerrors.calls") == {}


def test_metrics_of_events(memory, call_span):
    """Faults, waits and injected tokens are measured where their events happen."""
    one_call(memory.tracing(), call_span, CLASSIFIED, SCHEDULED, SURFACED)
    tool = ("gen_ai.tool.name", "search")
    assert memory.points("toolerrors.faults") == {
        (tool, ("toolerrors.category", "transient"), ("toolerrors.code", "http.503")): 1
    }
    assert memory.points("toolerrors.retry.delay") == {(tool, ("toolerrors.retry.basis", "backoff")): (1, 0.5)}
    assert memory.points("toolerrors.injected.tokens") == {(tool, ("toolerrors.arm", "context")): (1, 96)}


def test_a_breaker_is_in_one_state_at_a_time(memory, call_span):
    """Each state has a series, and exactly that of the current state is 1."""
    tracing = memory.tracing()
    one_call(tracing, call_span, moved("open"))
    one_call(tracing, call_span, moved("half_open"))
    points = memory.points("toolerrors.breaker.state")
    assert {labels[1][1]: value for labels, value in points.items()} == {
        "closed": 0,
        "open": 0,
        "half_open": 1,
        "forced_open": 0,
        "disabled": 0,
    }


def test_run_breakers_have_no_gauge(memory, call_span):
    """A run breaker lives and dies with its run; only service breakers are followed over time."""
    one_call(memory.tracing(), call_span, moved("open", breaker="run", name="search"))
    assert memory.points("toolerrors.breaker.state") == {}


def test_unknown_tools_collapse(memory, call_span, fault):
    """Whatever names a model makes up, they are one label."""
    run = memory.tracing().start_run("triage")
    for name in ("made_up_1", "made_up_2"):
        call = run.start_call(name, service=name, known=False)
        call.event(FaultClassified(**{**to_fields(CLASSIFIED), "tool": name}))
        call.attempt_ended(fault)
        call.end(call_span(tool=name), ok=False)
    for metric in ("toolerrors.calls", "toolerrors.faults", "gen_ai.execute_tool.duration"):
        labels = [dict(labels) for labels in memory.points(metric)]
        assert {label["gen_ai.tool.name"] for label in labels} == {"unknown"}
        assert {label.get("toolerrors.service", "unknown") for label in labels} == {"unknown"}


def to_fields(event):
    """The fields of an event."""
    return {name: getattr(event, name) for name in attributes_of(type(event))}


def test_label_sets_are_bounded(memory):
    """Codes without end fill one overflow series, not the memory of the backend."""
    meter = memory.meter_provider.get_meter("test")
    instruments = Instruments(meter, most_label_sets=3)
    instruments.register("search")
    for number in range(10):
        instruments.count_event(FaultClassified(**{**to_fields(CLASSIFIED), "code": f"code.{number}"}), None)
    points = memory.points("toolerrors.faults")
    assert points.pop((("otel.metric.overflow", True),)) == 7
    assert list(points.values()) == [1, 1, 1]


def test_metrics_lead_to_their_trace(memory, call_span):
    """A measurement made in a sampled call has that call's ids as an exemplar."""
    one_call(memory.tracing(), call_span, SCHEDULED)
    span = memory.span("execute_tool search")
    data = memory.reader.get_metrics_data()
    exemplars = {
        metric.name: [(exemplar.trace_id, exemplar.span_id) for exemplar in point.exemplars]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }
    ids = [(span.context.trace_id, span.context.span_id)]
    assert {name: exemplars[name] for name in ("gen_ai.execute_tool.duration", "toolerrors.retry.delay")} == {
        "gen_ai.execute_tool.duration": ids,
        "toolerrors.retry.delay": ids,
    }


def test_every_metric_of_the_vocabulary_is_made(memory, fault):
    """Names, units and kinds are the vocabulary's, and none is missing."""
    tracing = memory.tracing()
    call = tracing.start_run("triage").start_call("search", service="search-api")
    call.attempt_started("search", 1)
    call.attempt_ended(fault)
    for event in (CLASSIFIED, SCHEDULED, SURFACED, moved("open")):
        call.event(event)
    call.end(lambda: 1 / 0, ok=True)
    data = memory.reader.get_metrics_data()
    made = {m.name: m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics}
    assert {m.name: (m.unit, m.description) for m in METRICS} == {
        name: (m.unit, m.description) for name, m in made.items()
    }


def test_broken_metrics_reach_nobody(memory, call_span):
    """A meter that raises loses metrics, not spans."""

    class Refusing:
        """An instrument that raises when it is used."""

        def add(self, *arguments):
            """Refuse."""
            raise RuntimeError(arguments)

    tracing = memory.tracing()
    tracing.signals().instruments._calls = Refusing()
    one_call(tracing, call_span)
    assert [span.name for span in memory.spans] == ["execute_tool search"]
    assert memory.points("toolerrors.telemetry.dropped") == {(("toolerrors.drop.reason", "internal_error"),): 1}
