"""What we are allowed to do, as validated data.

Every key has a default, and every default a source: S0-S4 are the five articles
the project started from (see ``docs/sources.md``); "ours" is a choice we defend in
``docs/recovery.md``. All durations are seconds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from otel_toolerrors.vocabulary import Effects

from .lazy import lazy

Seconds = Annotated[float, Field(ge=0, le=604_800, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]

Jitter = Literal["none", "proportional", "full", "equal", "decorrelated"]
Terminal = Literal["permission", "exhausted", "permanent"]
BreakerMode = Literal["failure_rate", "consecutive"]
BreakerControl = Literal["auto", "shadow", "disabled", "forced_open"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(lazy,))

    def overlaid(self, other: Self | None) -> Self:
        """Take from ``other`` what it sets, from here the rest."""
        if other is None:
            return self
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})


class RetryPolicy(_Section):
    """When and how a failed call is repeated."""

    max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Attempts in all, the first included. Source: S0, S4."""
    base_delay: Seconds = 0.5
    """Delay after the first failure, before jitter; it doubles with each one. Source: S0, S1."""
    max_delay: Seconds = 32.0
    """Ceiling of the doubling, before jitter. Source: S1."""
    jitter: Jitter = "proportional"
    """How delays are spread; see ``docs/recovery.md``. Source: S0, S1 (proportional)."""
    jitter_fraction: Share = 0.25
    """For proportional jitter: up to this share is added. Source: S0, S1."""
    total_timeout: Seconds = 120.0
    """No wait is begun that would end later than this after the call began. Source: ours."""
    attempt_timeout: Seconds | None = None
    """Limit of a single attempt. A sync tool's thread cannot be stopped and may still commit. Source: ours."""
    hedge_after: Seconds | None = None
    """For async reads and idempotent tools: start a second try when the first has not answered after this long, and
    take whichever answers first. None: never. Source: ours."""
    retry_after_cap: Seconds = 21_600.0
    """A longer Retry-After counts as a refusal. Source: S1 (6 h)."""
    persistent: bool = False
    """Unattended mode: no attempt limit and ``persistent_cap`` for a deadline. Source: S1."""
    persistent_cap: Seconds = 21_600.0
    """Deadline in unattended mode. Source: S1 (6 h)."""
    heartbeat: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Longest silent piece of a wait in unattended mode. Source: S1 (30 s)."""


class BreakerPolicy(_Section):
    """When a service counts as sick and is left alone."""

    control: BreakerControl = "auto"
    """auto; shadow (counts and reports, never rejects); disabled; forced_open. Source: ours."""
    mode: BreakerMode = "failure_rate"
    """What trips it: the share of failures in a window, or a row of them. Source: S1 (rate), S4 (row)."""
    failure_rate: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of failed attempts in the window that opens it. Source: ours (resilience4j uses the same)."""
    window: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Length of the sliding window. Source: ours."""
    minimum_calls: Count = 10
    """Attempts the window must hold before the rate counts. Source: ours."""
    consecutive_failures: Count = 5
    """For mode ``consecutive``: failures in a row. Source: S4."""
    slow_call: Seconds | None = None
    """An attempt that takes longer counts as slow; None: speed does not matter. Source: ours."""
    slow_call_rate: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of slow attempts in the window that opens it. Source: ours (resilience4j uses the same)."""
    cooldown: Seconds = 60.0
    """How long it stays open before one probe may pass. Source: S4."""


class BudgetPolicy(_Section):
    """How many retries a service is worth, whoever makes them: a token bucket."""

    capacity: Annotated[float, Field(ge=0)] = 500.0
    """Tokens in a full bucket. Source: botocore's standard retry mode."""
    transient_cost: Annotated[float, Field(ge=0)] = 14.0
    """Tokens a retry after a transient fault costs. Source: botocore."""
    throttle_cost: Annotated[float, Field(ge=0)] = 5.0
    """Tokens a retry after a rate limit costs: waiting is no load. Source: botocore."""
    success_credit: Annotated[float, Field(ge=0)] = 1.0
    """Tokens a first-try success pays in; a recovered call pays back what its last retry took. Source: botocore."""
    floor: Annotated[int, Field(ge=0)] = 3
    """Retries that may always be under way, waiting ones included. Source: ours (failsafe-go uses the same)."""


class RunPolicy(_Section):
    """What one run may cost, and what ends it."""

    tool_failures: Count = 3
    """Surfaced failures of one tool in a row that stop the run. Source: S0."""
    corrections_in_a_row: Count = 5
    """Surfaced failures in a row, over all tools, that stop the run. Source: S4 (3 turns), wider for parallel calls."""
    corrections: Count = 20
    """Surfaced failures in the whole run that stop it. Source: ours."""
    denials_in_a_row: Count = 3
    """Denied calls in a row that stop the run. Source: S1."""
    denials: Count = 20
    """Denied calls in the whole run that stop it. Source: S1."""
    stop_on: frozenset[Terminal] = frozenset({"permission", "exhausted"})
    """Faults that end the run instead of being shown to the model. Source: S0, S3."""
    foreground: frozenset[str] = frozenset({"main_agent", "user_request", "coordinator_task"})
    """Sources that retry on capacity errors; everything else fails fast. Source: S1."""
    subscription: bool = False
    """True: a 429 is a window limit that does not pass within a turn, and is not retried. Source: S1."""


class SurfacePolicy(_Section):
    """What the model is shown."""

    max_chars: Annotated[int, Field(ge=80, le=20_000)] = 300
    """Longest error text. Source: S0."""
    previous_attempts: Annotated[int, Field(ge=0, le=20)] = 3
    """Earlier failures of the same operation and target that are listed. Source: S2; the number is ours."""
    suggestions: Annotated[int, Field(ge=0, le=10)] = 3
    """Suggestions shown. Source: S2; the number is ours."""
    held_out: Share = 0.0
    """Share of runs that get the bare error, so that the effect of context can be measured. Source: ours."""
    stale: Literal["drop", "show"] = "drop"
    """What happens to a suggestion that names a tool which the run does not offer. Source: S2; dropping is ours."""
    near_limit: Annotated[int, Field(ge=0)] = 4_000
    """Below this many tokens left in the window, context shrinks and then goes. Source: S2; the number is ours."""
    systemic_operations: Count = 3
    """Operations failing with one fingerprint in a run that make it systemic: one more hint, then none. Source: S2."""


class ModelPolicy(_Section):
    """Recovery of model requests, beyond what tools have."""

    overloads: Count = 3
    """Overloads in a row after which the next model is asked. Source: S1; the number is ours."""
    switch_back_after: Seconds = 300.0
    """How long another model serves before the first is tried again. Source: ours."""
    output_floor: Annotated[int, Field(ge=1)] = 3_000
    """Fewer output tokens than this are not worth a request: fail instead. Source: S1."""


class Fallback(_Section):
    """Another way to the same end."""

    tool: str
    """Name of the tool that stands in."""
    arguments: dict[str, str] = {}
    """Its argument name for each of ours; unnamed ones keep their name. Empty: pass all as they are."""
    drop: frozenset[str] = frozenset()
    """Arguments it does not take."""
    quality: str | None = None
    """What is lost, in a few words: the model is told. Source: S1."""

    def __hash__(self) -> int:
        return hash((self.tool, tuple(sorted(self.arguments.items())), self.drop, self.quality))


class ToolPolicy(_Section):
    """Overrides for one tool."""

    effects: Effects | None = None
    """What it does to the world; None: what the code declares, else ``write``. Source: S1, S3 (fail closed)."""
    service: str | None = None
    """Breaker, budget and pacing are shared by the tools of a service; None: the tool's own name."""
    optional: bool | None = None
    """True: when all else fails it leaves the run's tool list. None: as declared, else False. Source: S1."""
    fallback: tuple[Fallback, ...] = ()
    """Tried in order when retries are over. Source: S1, S4."""
    cache_ttl: Seconds | None = None
    """A read's last good result may stand in for this long. None: never. Source: S4."""
    credential: str | None = None
    """Name of the credential to refresh after a 401."""
    retry: RetryPolicy | None = None
    """Retry keys that differ for this tool."""


class ServicePolicy(_Section):
    """Overrides for one service."""

    breaker: BreakerPolicy | None = None
    budget: BudgetPolicy | None = None


class SourcePolicy(_Section):
    """Overrides for calls from one source."""

    retry: RetryPolicy | None = None


class Policy(_Section):
    """The whole of it. ``Policy()`` is the fail-closed default.

    Precedence, weakest first: the section's default, ``[retry]``, ``[sources.X.retry]``, ``[tools.X.retry]``.
    """

    mode: Literal["act", "observe"] = "act"
    """observe: decide and record, but change nothing about what the agent does."""
    retry: RetryPolicy = RetryPolicy()
    breaker: BreakerPolicy = BreakerPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    run: RunPolicy = RunPolicy()
    surface: SurfacePolicy = SurfacePolicy()
    models: ModelPolicy = ModelPolicy()
    tools: dict[str, ToolPolicy] = {}
    services: dict[str, ServicePolicy] = {}
    sources: dict[str, SourcePolicy] = {}

    @model_validator(mode="after")
    def _no_tool_stands_in_for_itself(self) -> Self:
        for name, tool in self.tools.items():
            if any(fallback.tool == name for fallback in tool.fallback):
                msg = f"tools.{name}.fallback names {name!r} itself"
                raise ValueError(msg)
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy, as pydantic does; the copy has a digest of its own."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("digest", None)
        return copied

    @lazy
    def digest(self) -> str:
        """16 hex digits that name this policy in traces; equal policies have equal digests."""
        canonical = json.dumps(_sorted(self.model_dump(mode="python")), separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def retry_for(self, tool: str, source: str) -> RetryPolicy:
        """Resolve the retry keys for one tool called from one source."""
        by_source, by_tool = self.sources.get(source), self.tools.get(tool)
        retry = self.retry.overlaid(by_source.retry if by_source else None)
        return retry.overlaid(by_tool.retry if by_tool else None)

    def breaker_for(self, service: str) -> BreakerPolicy:
        """Resolve the breaker keys for one service."""
        own = self.services.get(service)
        return self.breaker.overlaid(own.breaker if own else None)

    def budget_for(self, service: str) -> BudgetPolicy:
        """Resolve the budget keys for one service."""
        own = self.services.get(service)
        return self.budget.overlaid(own.budget if own else None)


def _sorted(value: Any) -> Any:
    """Order sets and keys, so that a digest does not depend on hashing."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, set | frozenset):
        return sorted(value)
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value
