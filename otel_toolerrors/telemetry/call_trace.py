"""What one logical tool call leaves behind: its span, its attempts' spans, its events and its metrics."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextvars import Token
from time import time_ns
from typing import Final, Protocol

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import (
    Span,
    SpanContext,
    Status,
    StatusCode,
    format_span_id,
    format_trace_id,
    set_span_in_context,
)

from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import (
    AttemptSpan,
    CallCancelled,
    CallSpan,
    Event,
    RetryOutcome,
    Scalar,
    attributes_of,
)

from .context import restore
from .guard import guarded, render
from .signals import Signals

_FAILED: Final = Status(StatusCode.ERROR)
"""Without a description: it would be the error's text, and that has its own, redacted attribute."""
_MOST_FAILURES: Final = 256
_ERROR_TYPE: Final = attributes_of(CallSpan)["error_type"].key
_ARGUMENTS: Final = attributes_of(CallSpan)["arguments"].key

Describe = Callable[[], dict[str, Scalar]]
"""Builds the attributes of a call's span, a `CallSpan` rendered."""


class CallTrace(Protocol):
    """Listens to one call, as an `engine.observer.Observer`. No method raises."""

    @property
    def recording(self) -> bool:
        """Whether anybody wants attributes; if not, none need be built."""

    @property
    def trace_id(self) -> str:
        """32 hex digits, or empty if there is no tracer."""

    @property
    def span_id(self) -> str:
        """16 hex digits, or empty if there is no tracer."""

    def attempt_started(self, tool: str, number: int) -> None:
        """Attempt ``number`` (from 1) of ``tool`` is about to be made."""

    def attempt_ended(self, fault: Fault | None) -> None:
        """The attempt ended: with a fault, or well."""

    def event(self, event: Event) -> None:
        """The engine decided something."""

    def end(self, describe: Describe, *, ok: bool) -> None:
        """The call is over; ``describe`` is only called if somebody wants what it builds."""


class SilentCall:
    """The call that nobody listens to."""

    recording = False
    trace_id = ""
    span_id = ""

    def attempt_started(self, tool: str, number: int) -> None:
        """Do nothing."""

    def attempt_ended(self, fault: Fault | None) -> None:
        """Do nothing."""

    def event(self, event: Event) -> None:
        """Do nothing."""

    def end(self, describe: Describe, *, ok: bool) -> None:
        """Do nothing."""


class Failures:
    """The run's failed calls, so that a later call with the same tool and arguments can be linked to them."""

    def __init__(self) -> None:
        self._spans: OrderedDict[tuple[str, Scalar], SpanContext] = OrderedDict()

    def link(self, span: Span, call: tuple[str, Scalar], *, ok: bool) -> None:
        """Link ``span`` to the failed ``call``, a tool and arguments, that it repeats; remember it if it failed."""
        earlier = self._spans.pop(call, None) if self._spans else None
        if earlier is not None:
            span.add_link(earlier)
        if not ok:
            self._spans[call] = span.get_span_context()
            if len(self._spans) > _MOST_FAILURES:
                self._spans.popitem(last=False)


SILENT: Final = SilentCall()


class RecordedCall:
    """A call that leaves spans and metrics. Its span is current from construction until `end`.

    A call that works at once has no attempt span. A first attempt that fails gets
    one afterwards, from its start; later ones have theirs while they are made.
    """

    # What most calls never change stands here once, instead of being set for every call.
    _attempts = 0
    _attempt: Span | None = None
    _attempt_start: int | None = None
    _attempt_token: Token[Context] | None = None
    _attempt_tool = ""
    _attempt_number = 0
    _category: str | None = None
    _code: str | None = None
    _cancelled = False
    _ended = False

    def __init__(
        self,
        failures: Failures,
        signals: Signals,
        span: Span,
        context: Context,
        *,
        owned: bool,
        tool: str,
        service: str,
    ) -> None:
        self._failures = failures
        self._signals = signals
        self._span = span
        self._owned = owned
        """False for a framework's own span: we add to it, and leave its end to its maker."""
        self._tool = tool
        self._service = service
        self._begun = signals.clock()
        self._context = context
        self._token = otel_context.attach(context)

    @property
    def recording(self) -> bool:
        """Whether anybody wants attributes."""
        return self._span.is_recording() or self._signals.writes_logs

    @property
    def trace_id(self) -> str:
        """32 hex digits, or empty if there is no tracer."""
        context = self._span.get_span_context()
        return format_trace_id(context.trace_id) if context.is_valid else ""

    @property
    def span_id(self) -> str:
        """16 hex digits, or empty if there is no tracer."""
        context = self._span.get_span_context()
        return format_span_id(context.span_id) if context.is_valid else ""

    def drop(self, error: Exception) -> None:
        """Count a failure of our own."""
        self._signals.drop(error)

    def attempt_started(self, tool: str, number: int) -> None:
        """Remember when a first attempt began; open a span for a repeated one, or for a fallback's."""
        self._attempts += 1
        self._attempt_number = number
        if number == 1 and tool == self._tool:
            self._attempt_start = time_ns()
        else:
            if tool != self._tool:  # a fallback is a registered tool: nobody else's is ever called
                self._signals.instruments.register(tool)
            self._begin_attempt(tool)

    def attempt_ended(self, fault: Fault | None) -> None:
        """Close the attempt's span; a first attempt that failed gets one now."""
        if fault is not None:
            self._category, self._code = fault.category, fault.code
            if self._attempt is None and self._attempt_start is not None:
                self._begin_attempt(self._tool, self._attempt_start)
        self._attempt_start = None
        if self._attempt is not None:
            self._end_attempt(self._attempt, fault)

    @guarded
    def event(self, event: Event) -> None:
        """Send ``event``, and record the metrics that follow from it."""
        self._cancelled = self._cancelled or isinstance(event, CallCancelled)
        self._signals.emit(event, self._span, self._context)

    @guarded
    def end(self, describe: Describe, *, ok: bool) -> None:
        """Describe the call, count it, and end its span if we made it: each of it also where the one before failed."""
        if self._ended:
            return
        self._ended = True
        if self._attempt is not None:  # cut short
            self._end_attempt(self._attempt, None)
        try:
            self._describe(describe, ok=ok)
        finally:
            try:
                self._count(ok=ok)
            finally:
                restore(self._token)
                if self._owned:
                    self._span.end()

    @guarded
    def _begin_attempt(self, tool: str, start: int | None = None) -> None:
        """Open an attempt's span: for one that is over, from its start; else as the current span."""
        if not self._span.is_recording():
            return
        name = f"{AttemptSpan.OPERATION} {self._signals.instruments.label(tool)}"
        self._attempt_tool = tool
        self._attempt = self._signals.tracer.start_span(name, self._context, start_time=start)
        if start is None:
            self._attempt_token = otel_context.attach(set_span_in_context(self._attempt, self._context))

    @guarded
    def _end_attempt(self, attempt: Span, fault: Fault | None) -> None:
        self._attempt = None
        if self._attempt_token is not None:
            restore(self._attempt_token)
            self._attempt_token = None
        category, code = (fault.category, fault.code) if fault is not None else (None, None)
        record = AttemptSpan(tool=self._attempt_tool, attempt=self._attempt_number, category=category, error_type=code)
        attempt.set_attributes(render(record))
        if fault is not None:
            attempt.set_status(_FAILED)
        attempt.end()

    def _describe(self, describe: Describe, *, ok: bool) -> None:
        """Put the call's attributes on its span."""
        recording = self._span.is_recording()
        if ok and not recording:
            return
        attributes = describe()
        if (code := attributes.get(_ERROR_TYPE)) is not None:
            self._code = str(code)
        if not recording:
            return
        arguments = attributes[_ARGUMENTS]
        if not self._owned:
            # The framework's own words stand; ours are added.
            theirs = getattr(self._span, "attributes", None) or {}
            attributes = {key: value for key, value in attributes.items() if key not in theirs}
        self._span.set_attributes(attributes)
        if not ok:
            self._span.set_status(_FAILED)
        self._failures.link(self._span, (self._tool, arguments), ok=ok)

    def _count(self, *, ok: bool) -> None:
        """Record the call's metrics. A cancelled call is neither a success nor a failure of the tool."""
        if self._cancelled:
            return
        outcome: RetryOutcome
        if ok:
            outcome = "ok" if self._category is None else "recovered"
        else:
            outcome = "failed_with_retry" if self._attempts > 1 else "failed_without_retry"
        self._signals.instruments.count_call(
            self._tool,
            self._service,
            retry_outcome=outcome,
            category=self._category,
            error_type=None if ok else self._code or "_OTHER",
            attempts=self._attempts,
            duration=self._signals.clock() - self._begun,
            context=self._context,
        )
