"""What the model and the human see."""

from __future__ import annotations

from .catalog import Catalog, CatalogError, Suggestion, default_catalog, load_catalog
from .context import Context, ContextBuilder, estimate_tokens
from .envelope import Envelope, EnvelopeError
from .messages import DENIED_CODE, NEAR_NAMES, STOP_MESSAGES, UNKNOWN_TOOL
from .neutral import neutralise
from .outcome import Outcome, RecoveryExhausted, ToolRunTerminated, answered, render_value
from .packet import RecoveryPacket, packets_to
from .surfacer import Surfacer, Where

__all__ = [
    "DENIED_CODE",
    "NEAR_NAMES",
    "STOP_MESSAGES",
    "UNKNOWN_TOOL",
    "Catalog",
    "CatalogError",
    "Context",
    "ContextBuilder",
    "Envelope",
    "EnvelopeError",
    "Outcome",
    "RecoveryExhausted",
    "RecoveryPacket",
    "Suggestion",
    "Surfacer",
    "ToolRunTerminated",
    "Where",
    "answered",
    "default_catalog",
    "estimate_tokens",
    "load_catalog",
    "neutralise",
    "packets_to",
    "render_value",
]
