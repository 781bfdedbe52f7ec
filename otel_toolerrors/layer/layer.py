"""The front door: a recovery layer around the tools of an agent."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, TypeVar, overload

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from otel_toolerrors.engine import ResultCache, Services
from otel_toolerrors.faults import Rule, RuleSet, default_rules
from otel_toolerrors.models import ModelChooser
from otel_toolerrors.policy import Declaration, Fallback, Policy, ToolRules, resolve
from otel_toolerrors.surface import Catalog, RecoveryPacket, default_catalog, estimate_tokens
from otel_toolerrors.telemetry import EventSignal, RunTrace, Tracing
from otel_toolerrors.vocabulary import Effects, Event

from .credentials import Refresher
from .hands import LayerHands
from .policy_file import PolicyFile
from .protect import protected
from .run import Run, arm_for, new_run_id
from .tools import InBand, Tool, Tools, tool_from

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Permission = Callable[[str, Mapping[str, Any]], Any]
"""Asked before every call with the tool's name and arguments. None or True allows it; a string is the reason why not.
It may be async, for `Run.acall`. If it raises, the call is denied."""

_REMEMBERED = 1_024

_log = logging.getLogger("otel_toolerrors")


class RecoveryLayer:
    """Wraps the tools of an agent. One per process is usual; breakers and budgets are shared by all of its runs.

    Args:
        policy: A `Policy`, or the path of a TOML file. Without one, the fail-closed defaults hold.
        catalog: Suggestions for the model; the default catalog if None.
        rules: Classification rules that come ahead of the default ones.
        permission: Asked before every call.
        credentials: How to refresh each credential that tools name.
        on_event: Told of every event; it must be quick, and what it raises is logged and forgotten.
        on_packet: Told of every recovery packet: the place to page somebody.
        tracer_provider: The global one if None; so with the other providers.
        meter_provider: For metrics.
        logger_provider: For events as log records.
        event_signal: Where events go: ``span``, ``logs`` or ``both``; what `configure` was told if None.
        count_tokens: Counts a text's tokens; estimates them by its length if None.
        clock: Monotonic seconds.
        sleep: Waits, for sync calls.
        asleep: Waits, for async calls.
        random: Source of jitter and run ids.

    Raises:
        PolicyError: The policy file cannot be used; the text names the line and the fix.
    """

    def __init__(
        self,
        policy: Policy | str | Path | None = None,
        *,
        catalog: Catalog | None = None,
        rules: tuple[Rule, ...] = (),
        permission: Permission | None = None,
        credentials: Mapping[str, Refresher] | None = None,
        on_event: Callable[[Event], None] | None = None,
        on_packet: Callable[[RecoveryPacket], None] | None = None,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        event_signal: EventSignal | None = None,
        count_tokens: Callable[[str], int] = estimate_tokens,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        asleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        self._policy_file = PolicyFile(policy) if isinstance(policy, str | Path) else None
        self.policy = policy if isinstance(policy, Policy) else Policy()
        if self._policy_file is not None:
            self.policy = self._policy_file.load()
        self.catalog = catalog or default_catalog()
        self.tools = Tools()
        self.services = Services(self.policy)
        self.cache = ResultCache()
        self.tracing = Tracing(tracer_provider, meter_provider, logger_provider, event_signal=event_signal)
        self.fault_rules = RuleSet((*rules, *default_rules()))
        self.permission = permission
        self.credentials = dict(credentials or {})
        self.count_tokens = partial(_counted, count_tokens)
        self.clock = clock
        self.sleep = sleep
        self.asleep = asleep
        self.random = random or SystemRandom()
        self.secret = secrets.token_bytes(32)
        self._on_event = on_event
        self._on_packet = on_packet
        self._rules: dict[tuple[str, str, bool], tuple[Declaration, ToolRules]] = {}
        self._checked: set[frozenset[str]] = set()
        self.hands = LayerHands(self)
        self._choosers: dict[tuple[str, ...], ModelChooser] = {}

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        effects: Effects = "write",
        service: str | None = None,
        optional: bool = False,
        credential: str | None = None,
        cache_ttl: float | None = None,
        fallback: tuple[str | Fallback, ...] = (),
        in_band: InBand = False,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        effects: Effects = "write",
        service: str | None = None,
        optional: bool = False,
        credential: str | None = None,
        cache_ttl: float | None = None,
        fallback: tuple[str | Fallback, ...] = (),
        in_band: InBand = False,
    ) -> Any:
        """Register a function as a tool, unchanged. Everything that is not said is taken in its strictest sense.

        Args:
            function: The function, when used as a bare decorator.
            name: Its own name if None.
            effects: read, idempotent, write (the default) or destructive.
            service: Tools of one service share a breaker, a retry budget and pacing; None: the tool's own.
            optional: When all else fails the tool leaves the run's list instead of ending the run.
            credential: Refreshed once per run after a 401.
            cache_ttl: A read's last good result may stand in for this many seconds.
            fallback: Names of tools that stand in, in order; a `Fallback` also says how arguments are adapted.
            in_band: True if errors come back as values in a known form (MCP ``isError``, ``{"error": …}`` and so on);
                or a function that tells which values may be errors.

        Raises:
            ValueError: The name is taken.
        """
        declared = Declaration(
            effects=effects, service=service, optional=optional, credential=credential, cache_ttl=cache_ttl,
            fallback=fallback,
        )  # fmt: skip

        def register(wrapped: F) -> F:
            self.tools.add(tool_from(wrapped, name=name, declared=declared, in_band=in_band))
            return wrapped

        return register if function is None else register(function)

    def build_tool(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        declared: Declaration | None = None,
        in_band: InBand = False,
    ) -> Tool:
        """Register a tool from code that makes tools, and give it; `tool` is the decorator for it.

        Args:
            function: What is called.
            name: The function's own name if None.
            description: For the model; the first paragraph of the docstring if None.
            declared: What it declares; the fail-closed default if None.
            in_band: As for `tool`.

        Raises:
            ValueError: The name is taken.
        """
        tool = tool_from(function, name=name, declared=declared or Declaration(), in_band=in_band)
        if description is not None:
            tool = replace(tool, description=description)
        self.tools.add(tool)
        return tool

    def run(
        self,
        *,
        agent: str | None = None,
        source: str = "main_agent",
        conversation: str | None = None,
        run_id: str | None = None,
    ) -> Run:
        """Begin a run.

        Args:
            agent: The agent's name, for traces.
            source: Who waits for the result. Sources on the policy's foreground list retry on capacity errors.
            conversation: The conversation's id, for traces.
            run_id: Names the run and decides its experiment arm; made up if None.
        """
        if self._policy_file is not None and (changed := self._policy_file.changed()) is not None:
            self.reload(changed)
        run_id = run_id or new_run_id(self.random)
        arm = arm_for(run_id, self.policy.surface.held_out)
        return Run(self, agent=agent, source=source, conversation=conversation, run_id=run_id, arm=arm)

    def alone(self, *, source: str = "main_agent") -> Run:
        """Begin a run of one call, for code that knows no runs: it has no span, and nothing that it could stop.

        Args:
            source: Who waits for the result, as for `run`.
        """
        run_id, trace = new_run_id(self.random), RunTrace(self.tracing)
        arm = arm_for(run_id, self.policy.surface.held_out)
        return Run(self, agent=None, source=source, conversation=None, run_id=run_id, arm=arm, trace=trace)

    @overload
    def protect(self, function: F, /) -> F: ...
    @overload
    def protect(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        effects: Effects = "write",
        service: str | None = None,
        credential: str | None = None,
        cache_ttl: float | None = None,
        fallback: tuple[str | Fallback, ...] = (),
        in_band: InBand = False,
        source: str = "main_agent",
    ) -> Callable[[F], F]: ...
    def protect(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        effects: Effects = "write",
        service: str | None = None,
        credential: str | None = None,
        cache_ttl: float | None = None,
        fallback: tuple[str | Fallback, ...] = (),
        in_band: InBand = False,
        source: str = "main_agent",
    ) -> Any:
        """Recover the calls of any function, sync or async; its callers notice nothing but that it fails less often.

        It returns what the function returns and raises what it raised last, with a note that tells what was tried.
        Only when there is nothing to raise, as the service's breaker was open, it raises `RecoveryExhausted`.
        A generator is repeated until it has yielded, and never after. A protected function that is called by a
        tool which may be repeated itself makes one attempt, so that retries do not multiply.

        Args:
            function: The function, when used as a bare decorator.
            name: Its own name if None; the policy's ``[tools.NAME]`` applies.
            effects: As for `tool`.
            service: As for `tool`.
            credential: As for `tool`.
            cache_ttl: As for `tool`.
            fallback: Names of registered tools that stand in; they get the arguments by name.
            in_band: As for `tool`.
            source: As for `run`.
        """
        declared = Declaration(
            effects=effects, service=service, credential=credential, cache_ttl=cache_ttl, fallback=fallback
        )

        def wrap(wrapped: F) -> F:
            return protected(self, wrapped, name=name, declared=declared, in_band=in_band, source=source)

        return wrap if function is None else wrap(function)

    def reload(self, policy: Policy) -> None:
        """Go on under another policy. Runs under way keep theirs; breakers, budgets and pacing keep their state.

        A layer that was made from a file does this by itself when the file has changed and a run begins. A file that
        cannot be used is reported in the log, and the old policy stays in force.
        """
        self.policy = policy
        self._rules = {}
        self.services.adopt(policy)

    def check_catalog(self, offered: list[str]) -> None:
        """Warn, once for each list of tools, of suggestions that name tools which the model is not offered."""
        tools = frozenset(offered)
        if tools in self._checked:
            return
        self._checked.add(tools)
        for hint, missing in self.catalog.stale(tools).items():
            _log.warning("suggestion %s names tools that no run offers: %s", hint, ", ".join(missing))

    def chooser_for(self, models: tuple[str, ...]) -> ModelChooser:
        """Find which of several models is asked now; all runs share the answer."""
        return self._choosers.setdefault(models, ModelChooser(models, self.policy.models))

    def rules_for(
        self, tool: str, declared: Declaration, source: str, *, policy: Policy, alone: bool = False
    ) -> ToolRules:
        """Resolve what a run's ``policy`` allows for a tool called from ``source``; a call ``alone`` stops no run.

        The run may have begun under another policy than is in force now.
        """
        if policy is not self.policy:
            return _resolved(policy, tool, declared, source, alone=alone)
        key = (tool, source, alone)
        known = self._rules.get(key)
        if known is not None and (known[0] is declared or known[0] == declared):
            return known[1]
        found = _resolved(policy, tool, declared, source, alone=alone)
        if tool in self.tools or len(self._rules) < _REMEMBERED:  # a model may make up any number of names
            self._rules[key] = declared, found
        return found

    def rules_for_fallback(self, tool: str, policy: Policy) -> ToolRules | None:
        """Resolve what a run's policy allows for a tool that stands in for another; None if there is no such tool."""
        known = self.tools.get(tool)
        return None if known is None else self.rules_for(tool, known.declared, "fallback", policy=policy)

    def notify(self, event: Event) -> None:
        """Tell the listener."""
        if self._on_event is not None:
            _shielded(self._on_event, event)

    def escalate(self, packet: RecoveryPacket) -> None:
        """Hand a packet to whoever takes over."""
        if self._on_packet is not None:
            _shielded(self._on_packet, packet)


def _resolved(policy: Policy, tool: str, declared: Declaration, source: str, *, alone: bool) -> ToolRules:
    found = resolve(policy, tool, declared, source)
    return replace(found, run=found.run.model_copy(update={"stop_on": frozenset()})) if alone else found


def _counted(count: Callable[[str], int], text: str) -> int:
    """Count tokens; where the user's counter fails, estimate them."""
    try:
        return count(text)
    except Exception:  # noqa: BLE001 - as below
        _log.exception("the token counter failed")
        return estimate_tokens(text)


def _shielded(listener: Callable[[T], None], news: T) -> None:
    """Tell a listener; what it raises must not change a tool's result."""
    try:
        listener(news)
    except Exception:  # noqa: BLE001 - a user's callback may raise anything
        _log.exception("a listener failed")
