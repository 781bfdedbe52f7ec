"""What lives and dies with one run: the run breaker, the failure log, denials, what was degraded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock

from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import RunPolicy
from otel_toolerrors.vocabulary import StopReason


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run stopped, and at which call."""

    reason: StopReason
    tool: str
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """One line of the failure log."""

    tool: str
    target: str
    fault: Fault


@dataclass(frozen=True, slots=True)
class Denials:
    """The denial counters, just after a denial."""

    consecutive: int
    total: int
    drift: bool
    """The tool had been allowed before in this run."""


@dataclass(slots=True)
class RunState:
    """Counters of one run; safe under threads. It never calls out while it holds its lock."""

    policy: RunPolicy
    stopped: Stop | None = None
    degraded: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    _row: Counter[str] = field(default_factory=Counter)
    _corrections: int = 0
    _corrections_in_a_row: int = 0
    _denied: int = 0
    _denied_in_a_row: int = 0
    _allowed: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def succeeded(self, tool: str) -> None:
        """A call worked: the model found its way out."""
        if self._corrections_in_a_row or self._row:
            with self._lock:
                self._row.pop(tool, None)
                self._corrections_in_a_row = 0

    def failed(self, tool: str, target: str, fault: Fault) -> tuple[int, StopReason | None]:
        """A failure is about to be surfaced: how many of this tool in a row, and whether that is too many."""
        with self._lock:
            self.failures.append(Failure(tool, target, fault))
            self._row[tool] += 1
            self._corrections += 1
            self._corrections_in_a_row += 1
            return self._row[tool], self._too_many(tool)

    def _too_many(self, tool: str) -> StopReason | None:
        if self._row[tool] >= self.policy.tool_failures:
            return "run_breaker"
        row, total = self._corrections_in_a_row, self._corrections
        return "corrections" if row >= self.policy.corrections_in_a_row or total >= self.policy.corrections else None

    def allowed(self, tool: str) -> None:
        """The permission check let a call pass."""
        if self._denied_in_a_row or tool not in self._allowed:
            with self._lock:
                self._allowed.add(tool)
                self._denied_in_a_row = 0

    def denied(self, tool: str) -> Denials:
        """The permission check refused a call."""
        with self._lock:
            self._denied += 1
            self._denied_in_a_row += 1
            return Denials(self._denied_in_a_row, self._denied, tool in self._allowed)

    def too_many_denials(self, denials: Denials) -> bool:
        """Whether the refusals are a reason to stop."""
        return denials.consecutive >= self.policy.denials_in_a_row or denials.total >= self.policy.denials

    def stop(self, stop: Stop) -> bool:
        """Stop the run; false if it had stopped already. The first reason stays."""
        with self._lock:
            if self.stopped is not None:
                return False
            self.stopped = stop
            return True

    def degrade(self, tool: str) -> bool:
        """Take a tool off the run's list; false if it was off already."""
        with self._lock:
            if tool in self.degraded:
                return False
            self.degraded.add(tool)
            return True

    def previous(self, tool: str, target: str) -> list[Failure]:
        """Failures so far of the same operation and target, oldest first."""
        with self._lock:
            return [failure for failure in self.failures if failure.tool == tool and failure.target == target]
