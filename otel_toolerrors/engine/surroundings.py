"""What a call reads and moves besides itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from otel_toolerrors.policy import ToolRules

from .cache import ResultCache
from .run import RunState
from .services import Services


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The run it belongs to, and what it shares with others."""

    run: RunState
    services: Services
    random: Random
    rules_for: Callable[[str], ToolRules | None]
    """Rules of a fallback tool; None if there is no such tool."""
    cache: ResultCache
