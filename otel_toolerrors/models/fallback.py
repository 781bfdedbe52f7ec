"""Model fallback: after repeated overloads another model serves the same request (S1).

It changes *identity*, not state: the breaker of a service goes its own way, and
both can be at work at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolerrors.engine.locks import new_lock
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import ModelPolicy
from otel_toolerrors.vocabulary import ModelSwitched

_OVERLOADED = frozenset({503, 529})


def is_overload(fault: Fault) -> bool:
    """Tell whether the provider says that this model has too much to do."""
    return fault.code == "overloaded" or (fault.category == "transient" and fault.http_status in _OVERLOADED)


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to ask now, and whether that is a change."""

    model: str
    switched: ModelSwitched | None = None


class ModelChooser:
    """Which of several models is asked; shared by runs, safe under threads. Time is passed in."""

    __slots__ = ("_at", "_lock", "_models", "_overloads", "_policy", "_switched_at")

    def __init__(self, models: Sequence[str], policy: ModelPolicy) -> None:
        if not models:
            raise ValueError("name at least one model")
        self._models = tuple(models)
        self._policy = policy
        self._lock = new_lock()
        self._at = 0
        self._overloads = 0
        self._switched_at = 0.0

    def choose(self, now: float) -> Choice:
        """Name the model to ask; after a while on another one, the first is tried again."""
        with self._lock:
            if self._at and now >= self._switched_at + self._policy.switch_back_after:
                return Choice(self._models[0], self._move(0, now, "recovered"))
            return Choice(self._models[self._at])

    def succeeded(self, model: str) -> None:
        """The model answered: its overloads are over."""
        with self._lock:
            if model == self._models[self._at]:
                self._overloads = 0

    def overloaded(self, model: str, now: float) -> ModelSwitched | None:
        """Count an overload; the switch, if it was one too many and there is another model."""
        with self._lock:
            if model != self._models[self._at]:
                return None  # another call has switched already
            self._overloads += 1
            if self._overloads < self._policy.overloads or self._at + 1 >= len(self._models):
                return None
            return self._move(self._at + 1, now, "overloaded")

    def _move(self, to: int, now: float, reason: str) -> ModelSwitched:
        before, self._at = self._models[self._at], to
        self._overloads = 0
        self._switched_at = now
        return ModelSwitched(from_model=before, to_model=self._models[to], reason=reason)
