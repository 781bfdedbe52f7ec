"""Moving through OpenTelemetry contexts: whose span is current, and how to go back."""

from __future__ import annotations

from contextvars import Token
from typing import Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import Span

from .signals import SCOPE

# The API has no public name for it; instrumentations import it as we do.
_SUPPRESS: Final = otel_context._SUPPRESS_INSTRUMENTATION_KEY  # noqa: SLF001
_OPERATION: Final = "gen_ai.operation.name"


def suppressed(context: Context) -> bool:
    """Whether somebody asked for no telemetry here (``suppress_instrumentation()``)."""
    return bool(context.get(_SUPPRESS))


def without_telemetry() -> Context:
    """The current context, in which no instrumentation makes telemetry."""
    return otel_context.set_value(_SUPPRESS, True)  # noqa: FBT003 - the API's own flag


def restore(token: Token[Context]) -> None:
    """Go back to the context before ``token``.

    A call may end in another task or thread than it began in (a closed generator,
    a cancelled scope). Then there is nothing to go back to, and that is no error.
    """
    try:  # noqa: SIM105 - suppress() costs twenty times as much, and this runs for every call
        token.var.reset(token)
    except (ValueError, RuntimeError):
        pass


def is_foreign(span: Span, operation: str) -> bool:
    """Whether ``span`` is a framework's own GenAI span for ``operation``, not one of ours."""
    if not span.is_recording():
        return False
    if getattr(getattr(span, "instrumentation_scope", None), "name", None) == SCOPE:
        return False
    attributes = getattr(span, "attributes", None) or {}
    return attributes.get(_OPERATION) == operation or str(getattr(span, "name", "")).startswith(f"{operation} ")
