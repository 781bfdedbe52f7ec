"""Who listens to the engine."""

from __future__ import annotations

from typing import Protocol

from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import Event


class Observer(Protocol):
    """Told of everything that happens in one logical call. It must not raise and must not block."""

    def attempt_started(self, tool: str, number: int) -> None:
        """Attempt ``number`` (from 1) is about to be made; ``tool`` differs from the call's own for a fallback."""

    def attempt_ended(self, fault: Fault | None) -> None:
        """The attempt ended: with a fault, or well."""

    def event(self, event: Event) -> None:
        """The engine decided something."""


class Silence:
    """The observer that does not listen."""

    def attempt_started(self, tool: str, number: int) -> None:
        """Do nothing."""

    def attempt_ended(self, fault: Fault | None) -> None:
        """Do nothing."""

    def event(self, event: Event) -> None:
        """Do nothing."""
