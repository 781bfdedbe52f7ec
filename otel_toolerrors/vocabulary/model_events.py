"""Events of requests to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .attributes import attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOverflowed:
    """A model request did not fit its context window."""

    NAME: ClassVar[str] = "toolerrors.context.overflowed"
    VIEW: ClassVar[str] = "overflows"

    model: str = attribute("gen_ai.request.model", "The model asked.", "claude-sonnet-5")
    input_tokens: int | None = attribute(
        "toolerrors.overflow.input", "Input tokens the provider counted.", 198000, unit="{token}", default=None
    )
    limit: int | None = attribute(
        "toolerrors.overflow.limit", "The window's size.", 200000, unit="{token}", default=None
    )
    max_tokens: int | None = attribute(
        "toolerrors.overflow.max_tokens", "Output tokens of the repeated request; absent when it failed.", 2000,
        unit="{token}", default=None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSwitched:
    """After repeated overloads another model serves the request, or the first one serves again."""

    NAME: ClassVar[str] = "toolerrors.model.switched"
    VIEW: ClassVar[str] = "model_switches"

    from_model: str = attribute("toolerrors.model.from", "Model before.", "claude-opus-5")
    to_model: str = attribute("toolerrors.model.to", "Model after.", "claude-sonnet-5")
    reason: str = attribute("toolerrors.model.reason", "overloaded or recovered.", "overloaded", cardinality="low")
