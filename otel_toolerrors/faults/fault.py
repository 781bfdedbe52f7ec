"""What happened, as one immutable record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from otel_toolerrors.vocabulary import Category, Effects, SideEffects

Signal = Literal["type", "status", "errno", "header", "code", "chain", "location", "message", "rule", "value"]
"""Where a verdict was read from."""

Strength = Literal["certain", "strong", "weak"]
"""certain: a protocol's own word. strong: structure. weak: prose, or a guess from context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one signal, by itself, says about an error."""

    signal: Signal
    observed: str
    """What was read, redacted: ``httpx.ReadTimeout``, ``503``, ``x-should-retry: false``."""
    category: Category
    code: str
    strength: Strength


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A classified error."""

    category: Category
    code: str
    """Finer and stable: ``timeout.read``, ``http.503``, ``rate_limit.secondary``."""
    passing: bool
    """Whether the same call may succeed if it is simply repeated, side effects aside."""
    side_effects: SideEffects
    """What is known about whether the failed call took effect."""
    effects: Effects
    """What the tool declared about itself."""
    message: str
    """The error's text: redacted, bounded, one line of sense and never a traceback."""
    fingerprint: str
    """16 hex digits; the same for errors that differ only in ids, numbers, paths and hashes."""
    retry_after: float | None = None
    """Seconds the server asked to wait; never negative, infinite or NaN."""
    http_status: int | None = None
    exception_type: str | None = None
    """Qualified class name; None for an error that came back as a value."""
    refused_by_server: bool = False
    """True when the server said in so many words not to repeat the request."""
    already_retried: bool = False
    """True when a retry library below us has given up on it already."""
    signal: Signal = "type"
    """The signal that decided."""
    strength: Strength = "weak"
    verdicts: tuple[Verdict, ...] = ()
    """Every signal's own verdict, strongest first."""

    @property
    def retryable(self) -> bool:
        """Whether repeating the same call is worthwhile *and* safe, for the declared effects and without a key."""
        return self.passing and (self.effects in ("read", "idempotent") or self.side_effects == "none")

    @property
    def dissent(self) -> str | None:
        """The signals that voted for another category, as ``signal=category`` pairs; None if all agree."""
        others = dict.fromkeys(f"{v.signal}={v.category}" for v in self.verdicts if v.category != self.category)
        return ",".join(others) or None
