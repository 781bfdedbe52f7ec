"""The four dashboards. Every name comes from the vocabulary: a renamed word changes them, or breaks the build."""

from __future__ import annotations

from typing import get_args

from dashboards.panels import Json, Panel, Query, Variable, dashboard, stacked, stat, timeline
from dashboards.queries import (
    CALL,
    SERVICE,
    TOOL,
    among,
    calls_by_outcome,
    equal,
    event_rate,
    key,
    last_hour,
    legend,
    name,
    quantile,
    rate,
    ratio,
    spans_of_calls,
    spans_with,
    traceql,
)
from dashboards.series import REPEATED, SPAN_CALLS, SPAN_DURATION, counted, label, series
from otel_toolerrors.vocabulary import (
    AttemptSpan,
    BreakerMoved,
    BreakerRejected,
    CallOutcome,
    CallSpan,
    ErrorSurfaced,
    Event,
    FallbackUsed,
    FaultClassified,
    RetryRefused,
    RetryScheduled,
    RunStopped,
    metrics,
)

_OUTCOME = name(CallSpan, "outcome")
_OUTCOME_SPAN = f"span.{key(CallSpan, 'outcome')}"
_TOOL_LABEL = name(CallSpan, "tool")
_AGENT_LABEL = name(CallSpan, "agent")
_SERVICE_LABEL = name(CallSpan, "service")
_ARM_LABEL = name(ErrorSurfaced, "arm")
_BASIS_LABEL = name(RetryScheduled, "basis")

# A denial and a cancellation are outcomes, not failures: they say nothing about a tool.
_NO_FAILURE = {"ok", "recovered", "denied", "cancelled"}
_FAILED = [outcome for outcome in get_args(CallOutcome) if outcome not in _NO_FAILURE]
_FAILED_SPANS = f'{_OUTCOME_SPAN} =~ "{"|".join(_FAILED)}"'

_SERVICES = Variable("service", "Service", f"label_values({SPAN_CALLS}, job)")
_AGENTS = Variable("agent", "Agent", f"label_values({SPAN_CALLS}{{{SERVICE}}}, {_AGENT_LABEL})")
_TOOLS = Variable("tool", "Tool", f"label_values({SPAN_CALLS}{{{SERVICE}}}, {_TOOL_LABEL})")

_CALLS = rate(SPAN_CALLS, CALL)
_failed_calls = rate(SPAN_CALLS, among(_OUTCOME, *_FAILED), CALL)
_failed_again = rate(
    f"{label(REPEATED)}_total", among(_OUTCOME, *_FAILED), among(_AGENT_LABEL, "$agent"), SERVICE, TOOL
)

_FOUR_WAYS = stacked(
    "How calls end",
    "Logical calls, each counted once however often it was tried: worked at once, recovered by a retry, "
    "failed without a retry, failed in spite of one. Denied and cancelled calls are in none of them.",
    [
        calls_by_outcome("ok"),
        calls_by_outcome("recovered"),
        Query(f"{_failed_calls} - ({_failed_again} or vector(0))", "failed_without_retry"),
        Query(_failed_again, "failed_with_retry"),
    ],
    spans_of_calls(f'{_OUTCOME_SPAN} != "ok"'),
)

_BREAKER_LABELS = (name(BreakerMoved, "name"), name(BreakerRejected, "state"))
_BREAKER_STATES = timeline(
    "Service breakers",
    "One row for each service and state, filled while the breaker of some process is in it.",
    Query(
        f"max by ({', '.join(_BREAKER_LABELS)}) ({series(metrics.BREAKER_STATE)}{{{SERVICE}}})",
        legend(*_BREAKER_LABELS),
    ),
    spans_with(BreakerMoved),
)


def _amplification(*by: str) -> str:
    retries = rate(counted(RetryScheduled), SERVICE, TOOL, by=by)
    return f"1 + {ratio(retries, rate(SPAN_CALLS, CALL, by=by))}"


def _events(
    title: str, description: str, event: type[Event], *fields: str, only: tuple[str, ...] | None = None
) -> Panel:
    """How often an event happens, by some of its attributes."""
    query = event_rate(event, *fields) if only is None else event_rate(event, *fields, only=only)
    return stacked(title, description, [query], spans_with(event))


def _latency(title: str, description: str, outcome: str) -> Panel:
    return Panel(
        title,
        description,
        [
            Query(quantile(share, SPAN_DURATION, equal(_OUTCOME, outcome), CALL), f"p{share * 100:.0f}")
            for share in (0.5, 0.95, 0.99)
        ],
        spans_of_calls(f'{_OUTCOME_SPAN} = "{outcome}"'),
        unit="s",
    )


def fleet() -> Json:
    """Do tool calls end well, what do retries cost, and what is broken right now?"""
    return dashboard(
        "toolerrors-fleet",
        "Tool calls: fleet health",
        "Do tool calls end well, what do retries cost, and what is broken right now?",
        [_SERVICES, _AGENTS, _TOOLS],
        [
            stat("Calls", "Logical tool calls a second.", _CALLS, spans_of_calls(), unit="ops"),
            stat(
                "Ended well",
                "Share of calls that worked, at once or after a retry.",
                ratio(rate(SPAN_CALLS, among(_OUTCOME, "ok", "recovered"), CALL), _CALLS),
                spans_of_calls(f'{_OUTCOME_SPAN} =~ "ok|recovered"'),
                unit="percentunit",
            ),
            stat(
                "Recovered",
                "Share of calls that a retry saved. Falling while retries rise: retries have stopped helping.",
                ratio(calls_by_outcome("recovered").expression, _CALLS),
                spans_of_calls(f'{_OUTCOME_SPAN} = "recovered"'),
                unit="percentunit",
            ),
            stat(
                "Amplification",
                "Attempts for each logical call. 1 is no retry at all; the default policy cannot exceed 3.",
                _amplification(),
                spans_with(RetryScheduled),
            ),
            stat(
                "Runs stopped",
                "Runs that the layer ended in the last hour.",
                f"{last_hour(counted(RunStopped))} or vector(0)",
                spans_with(RunStopped),
            ),
            stat(
                "Telemetry lost",
                "Spans, events and lines dropped in the last hour. Above zero, every other panel is too low.",
                f"{last_hour(series(metrics.TELEMETRY_DROPPED))} or vector(0)",
                spans_of_calls(),
            ),
            _FOUR_WAYS,
            Panel(
                "Retry amplification by tool",
                "Attempts for each logical call. A step up on one tool is a sick service; on all of them, the network.",
                [Query(_amplification(_TOOL_LABEL), legend(_TOOL_LABEL))],
                spans_with(RetryScheduled),
            ),
            _events(
                "Faults by category",
                "Failed attempts. `unknown` means that no signal could be read: `toolerrors analyze` proposes a rule.",
                FaultClassified,
                "category",
            ),
            _BREAKER_STATES,
            _events(
                "Runs stopped",
                "By reason. `permission` waits for a person; `run_breaker` is a model that repeats itself.",
                RunStopped,
                "reason",
                only=(SERVICE,),
            ),
            _events(
                "Retries refused",
                "Failed attempts that were not repeated, and why. `effects` is a write that may have happened.",
                RetryRefused,
                "reason",
            ),
        ],
    )


def tool() -> Json:
    """What goes wrong with a tool, and what do its retries cost?"""
    attempts = f"{AttemptSpan.OPERATION} .*"
    return dashboard(
        "toolerrors-tool",
        "Tool calls: one tool",
        "What goes wrong with a tool, and what do its retries cost? Choose a tool above.",
        [_SERVICES, _AGENTS, _TOOLS],
        [
            _FOUR_WAYS,
            _events(
                "Fault codes",
                "What failed attempts failed with. The code, not the category, is what a rule or a ticket is about.",
                FaultClassified,
                "code",
            ),
            _latency("Latency without retries", "Calls that worked at once.", "ok"),
            _latency(
                "Latency with retries",
                "Calls that recovered: all attempts and the waits between them. The difference is recovery's price.",
                "recovered",
            ),
            _events(
                "Retries by basis",
                "What chose the wait: our backoff, or a Retry-After that the server sent.",
                RetryScheduled,
                "basis",
            ),
            Panel(
                "Waits before retries",
                "95th percentile by basis. A growing `retry_after` is a server asking for room.",
                [
                    Query(
                        quantile(0.95, series(metrics.RETRY_DELAY), SERVICE, TOOL, by=(_BASIS_LABEL,)),
                        legend(_BASIS_LABEL),
                    )
                ],
                spans_with(RetryScheduled),
                unit="s",
            ),
            _events("Retries refused", "Failed attempts that were not repeated, and why.", RetryRefused, "reason"),
            _events(
                "Fallbacks",
                "Stand-ins that were tried, and whether they helped.",
                FallbackUsed,
                "fallback",
                "succeeded",
            ),
            Panel(
                "Slow attempts",
                "95th percentile of failed or repeated attempts: a timeout that is too long shows here first.",
                [
                    Query(
                        quantile(0.95, SPAN_DURATION, among("span_name", attempts), SERVICE, TOOL, by=(_TOOL_LABEL,)),
                        legend(_TOOL_LABEL),
                    )
                ],
                traceql(f'span:name =~ "{attempts}"'),
                unit="s",
            ),
        ],
    )


def model() -> Json:
    """Which errors reach the model, with which context, and at what price in tokens?"""
    injected = series(metrics.INJECTED_TOKENS)
    with_context = spans_with(ErrorSurfaced, f"event.{key(ErrorSurfaced, 'injected_tokens')} > 0")
    return dashboard(
        "toolerrors-model",
        "Tool calls: what the model sees",
        "Which errors reach the model, with which context, and at what price in tokens?",
        [_SERVICES, _TOOLS],
        [
            _events(
                "Errors shown to the model",
                "By category. `bug` and `permission` should be rare here: a model cannot act on them.",
                ErrorSurfaced,
                "category",
            ),
            _events("Errors by code", "The same, finer.", ErrorSurfaced, "code"),
            _events(
                "Suggestions shown",
                "By id; `none` is an error without one. Whether they help is for `toolerrors analyze` to say.",
                ErrorSurfaced,
                "suggestions",
            ),
            _events(
                "Experiment arms",
                "Errors with recovery context, and bare ones that tell whether the context is worth its tokens.",
                ErrorSurfaced,
                "arm",
            ),
            Panel(
                "Injected tokens for each error",
                "What recovery context adds to the bare error, on average.",
                [
                    Query(
                        ratio(
                            rate(f"{injected}_sum", SERVICE, TOOL, by=(_ARM_LABEL,)),
                            rate(f"{injected}_count", SERVICE, TOOL, by=(_ARM_LABEL,)),
                        ),
                        legend(_ARM_LABEL),
                    )
                ],
                with_context,
            ),
            Panel(
                "Injected tokens a second",
                "By tool: what you pay for.",
                [Query(rate(f"{injected}_sum", SERVICE, TOOL, by=(_TOOL_LABEL,)), legend(_TOOL_LABEL))],
                with_context,
            ),
        ],
    )


def services() -> Json:
    """Which services are sick, and do the breakers protect them?"""
    by = (_SERVICE_LABEL,)
    calls = rate(series(metrics.CALLS), SERVICE, by=by)
    failed = among(label("toolerrors.retry.outcome"), "failed_.*")
    of_services = (equal(name(BreakerMoved, "breaker"), "service"), SERVICE)
    of_runs = (equal(name(BreakerMoved, "breaker"), "run"), SERVICE)
    return dashboard(
        "toolerrors-services",
        "Tool calls: service breakers",
        "Which services are sick, and do the breakers protect them?",
        [_SERVICES],
        [
            _BREAKER_STATES,
            _events(
                "Transitions",
                "By the state moved to. Open and half-open in turns is flapping: lengthen the cooldown.",
                BreakerMoved,
                "name",
                "to_state",
                only=of_services,
            ),
            _events(
                "Attempts rejected",
                "Attempts that an open breaker answered at once. Each is load that a sick service did not get.",
                BreakerRejected,
                "name",
                only=of_services,
            ),
            Panel(
                "Failed calls",
                "Share of a service's logical calls that failed, retries included.",
                [Query(ratio(rate(series(metrics.CALLS), failed, SERVICE, by=by), calls), legend(*by))],
                traceql(_FAILED_SPANS),
                unit="percentunit",
            ),
            Panel(
                "Attempts for each call",
                "A service's retry amplification, as its callers report it.",
                [Query(ratio(rate(series(metrics.ATTEMPTS), SERVICE, by=by), calls), legend(*by))],
                spans_with(RetryScheduled),
            ),
            _events(
                "Run breakers",
                "Runs whose breaker opened on a tool: a model that calls it again and again without success.",
                BreakerMoved,
                "name",
                only=of_runs,
            ),
        ],
    )
