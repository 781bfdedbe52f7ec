"""What a finding is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from otel_toolerrors.analysis.patch import Patch
from otel_toolerrors.analysis.statistics import Interval

Severity = Literal["info", "low", "medium", "high"]

SEVERITIES: tuple[Severity, ...] = ("info", "low", "medium", "high")
"""From the mildest to the gravest."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """One span that shows it."""

    trace_id: str
    span_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What it cost, as far as the traces tell."""

    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that the layer, the policy or the catalog got wrong, or could do better.

    ``docs/findings/<kind>.md`` says what each kind means, by which rule it is found, and what it cannot see.
    """

    kind: str
    severity: Severity
    title: str
    """One line."""
    explanation: str
    """What was seen, in numbers, and what follows from it."""
    tool: str | None = None
    service: str | None = None
    fingerprint: str | None = None
    code: str | None = None
    counts: Mapping[str, int | float] = field(default_factory=dict)
    cost: Cost = Cost()
    evidence: tuple[Evidence, ...] = ()
    """A few of the spans, the earliest first."""
    interval: Interval | None = None
    """The share that the finding rests on, with its 95 % interval; None where it rests on plain counts."""
    patch: Patch | None = None
    """What would mend it; None if only a person can tell."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes it the same finding tomorrow, when the numbers in its title have grown."""
        title = _NUMBER.sub("#", self.title)
        return self.kind, self.tool or self.service or "", self.fingerprint or self.code or "", title

    @property
    def id(self) -> str:
        """The key, short enough to type: eight hexadecimal digits."""
        return sha256("\0".join(self.key).encode()).hexdigest()[:8]

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON can hold it."""
        interval = self.interval
        return {
            "id": self.id,
            "kind": self.kind,
            "severity": self.severity,
            "title": self.title,
            "explanation": self.explanation,
            "tool": self.tool,
            "service": self.service,
            "fingerprint": self.fingerprint,
            "code": self.code,
            "counts": dict(self.counts),
            "cost": {"seconds": round(self.cost.seconds, 3), "tokens": self.cost.tokens},
            "evidence": [{"trace_id": one.trace_id, "span_id": one.span_id} for one in self.evidence],
            "interval": None
            if interval is None
            else {"value": interval.value, "low": interval.low, "high": interval.high, "level": interval.level},
            "patch": None if self.patch is None else {"target": self.patch.target, "toml": self.patch.toml()},
        }


def at_least_as_grave(severity: Severity, as_: Severity) -> bool:
    """Whether a severity reaches another."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(as_)


def gravest_first(finding: Finding) -> tuple[Any, ...]:
    """Sort key: severity, then cost, then what it is about."""
    return -SEVERITIES.index(finding.severity), -finding.cost.seconds, -finding.cost.tokens, finding.key
