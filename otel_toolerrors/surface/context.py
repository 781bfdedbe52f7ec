"""The recovery context: what the model is shown beside the bare error, and when it is better left out (S2).

The parts come in a fixed order and go in the opposite one: suggestions stay
longest, because they are short and new; the list of previous attempts goes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from otel_toolerrors.engine import Call, Failure
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import SurfacePolicy

from .catalog import Suggestion
from .neutral import neutralise

_LINE = 160
"""Characters of an earlier failure's message: enough to tell it from another."""


def estimate_tokens(text: str) -> int:
    """Estimate a text's tokens as characters / 4, rounded up: the rule of thumb the providers publish for English."""
    return -(-len(text) // 4)


@dataclass(frozen=True, slots=True)
class Context:
    """The chosen context of one surfaced error."""

    text: str
    suggestions: tuple[Suggestion, ...] = ()
    trimmed: str | None = None
    """Why something was left out: ``near_limit`` or ``systemic``."""


@dataclass(slots=True)
class ContextBuilder:
    """Chooses context for the failures of one run; safe under threads."""

    policy: SurfacePolicy
    _operations: dict[str, set[str]] = field(default_factory=dict)
    _hinted: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def build(
        self,
        call: Call,
        fault: Fault,
        previous: Sequence[Failure],
        suggestions: Sequence[Suggestion],
        remaining: int | None,
    ) -> Context:
        """Assemble the context; ``remaining`` is the tokens left in the model's window, if known."""
        if self._is_old_news(fault, f"{call.tool} {call.target}"):
            return Context("", trimmed="systemic")
        shown = previous[-self.policy.previous_attempts :] if self.policy.previous_attempts else []
        hints = tuple(suggestions)
        whole = _render(call, shown, hints)
        if remaining is None or remaining >= self.policy.near_limit:
            return Context(whole, hints)
        for text, kept in ((_render(call, [], hints), hints), (_render(call, [], hints[:1]), hints[:1])):
            if estimate_tokens(text) * _SHARE <= remaining:
                return Context(text, kept, None if text == whole else "near_limit")
        return Context("", trimmed="near_limit")

    def _is_old_news(self, fault: Fault, operation: str) -> bool:
        """Tell whether one outage shows at many operations and has been explained once."""
        with self._lock:
            operations = self._operations.setdefault(fault.fingerprint, set())
            operations.add(operation)
            if len(operations) < self.policy.systemic_operations:
                return False
            told = fault.fingerprint in self._hinted
            self._hinted.add(fault.fingerprint)
            return told


_SHARE = 50
"""Near the limit, context may take a fiftieth of what is left."""


def _render(call: Call, previous: Sequence[Failure], hints: Sequence[Suggestion]) -> str:
    lines: list[str] = []
    if previous:
        lines += ["Earlier attempts at this in this run:"]
        earlier = [f"{call.tool}: {f.fault.code}: {neutralise(f.fault.message, _LINE)}" for f in previous]
        lines += [f"  {number}. {line}" for number, line in enumerate(earlier, start=1)]
    if hints:
        lines += ["Suggestions:", *(f"  - {hint.text}" for hint in hints)]
    return "\n".join(lines)
