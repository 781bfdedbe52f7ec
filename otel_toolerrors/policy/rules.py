"""A policy, resolved for one tool: what the engine reads on every call."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_toolerrors.vocabulary import Effects

from .model import Fallback, Policy, RetryPolicy, RunPolicy, ToolPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a tool says about itself in code. The defaults are the most restrictive ones. Source: S1."""

    effects: Effects = "write"
    service: str | None = None
    optional: bool = False
    credential: str | None = None
    cache_ttl: float | None = None
    fallback: tuple[str | Fallback, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """What is allowed for one tool, called from one source."""

    tool: str
    service: str
    effects: Effects
    optional: bool
    credential: str | None
    cache_ttl: float | None
    fallback: tuple[Fallback, ...]
    retry: RetryPolicy
    run: RunPolicy
    foreground: bool
    attempt_timeout: float | None = field(init=False, repr=False)
    """Seconds. It stands here, too, for every call that works reads it, and a model's fields take thrice as long."""
    hedge_after: float | None = field(init=False, repr=False)
    """Seconds after which a second try may be started beside the first; None where two may do harm."""

    def __post_init__(self) -> None:
        harmless = self.effects in ("read", "idempotent")
        object.__setattr__(self, "attempt_timeout", self.retry.attempt_timeout)
        object.__setattr__(self, "hedge_after", self.retry.hedge_after if harmless else None)


def resolve(policy: Policy, tool: str, declared: Declaration, source: str) -> ToolRules:
    """Resolve what applies to ``tool``: the policy file wins over what the code declares."""
    own = policy.tools.get(tool, ToolPolicy())
    ttl = own.cache_ttl if own.cache_ttl is not None else declared.cache_ttl
    effects = own.effects or declared.effects
    return ToolRules(
        tool=tool,
        service=own.service or declared.service or tool,
        effects=effects,
        optional=declared.optional if own.optional is None else own.optional,
        credential=own.credential or declared.credential,
        cache_ttl=ttl if effects == "read" else None,
        fallback=own.fallback or tuple(_fallback(way) for way in declared.fallback),
        retry=policy.retry_for(tool, source),
        run=policy.run,
        foreground=source in policy.run.foreground,
    )


def _fallback(way: str | Fallback) -> Fallback:
    return way if isinstance(way, Fallback) else Fallback(tool=way)
