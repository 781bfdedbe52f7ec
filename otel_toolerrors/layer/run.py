"""One run of an agent: the run breaker, the failure log, denials and budgets live and die here."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from otel_toolerrors.engine import Decision, RunState, Stop, Surroundings, amake, make
from otel_toolerrors.faults import redact
from otel_toolerrors.policy import Declaration
from otel_toolerrors.policy.lazy import lazy
from otel_toolerrors.surface import STOP_MESSAGES, Outcome, Surfacer, answered
from otel_toolerrors.telemetry import RunTrace, Stencil
from otel_toolerrors.vocabulary import Arm, CallDenied, CallSpan, RunSpan, RunStopped, StopReason

from .calling import Calling, Route
from .credentials import Refreshes
from .digest import safe_digest
from .model import Model
from .tools import InBand, Tool, made_up, tool_from
from .watch import Watched

if TYPE_CHECKING:
    from .layer import RecoveryLayer

T = TypeVar("T")

_CHECK_FAILED = "the permission check failed: {}"


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why a run stopped."""

    reason: StopReason
    message: str
    """A plain, fixed text for the user: no further model turn is needed."""
    tool: str


class Run:
    """One run. Made by `RecoveryLayer.run`; use it as a context manager. Safe under threads and tasks.

    ``context_remaining`` may be set by the caller before each turn: the tokens left in the model's window.
    Near the limit, recovery context shrinks and then goes.
    """

    def __init__(
        self, layer: RecoveryLayer, *, agent: str | None, source: str, conversation: str | None, run_id: str, arm: Arm,
        trace: RunTrace | None = None,
    ) -> None:  # fmt: skip
        self.id = run_id
        self.agent = agent
        self.source = source
        self.conversation = conversation
        self.arm: Arm = arm
        self.context_remaining: int | None = None
        self.layer = layer
        self.policy = layer.policy
        self.observes = self.policy.mode == "observe"
        """Decide and record, and change nothing."""
        self._state = RunState(self.policy.run)
        rules_for = partial(layer.rules_for_fallback, policy=self.policy)  # of the run's own it would be a cycle
        self.around = Surroundings(self._state, layer.services, layer.random, rules_for, layer.cache)
        self.indices = count()
        self._routes: dict[str, Route] = {}
        self._done: dict[str, int] = {}
        self._answers: dict[str, Outcome] = {}
        self.alone = trace is not None
        self.trace = trace or layer.tracing.start_run(agent)
        self._shown: frozenset[str] = frozenset()
        self._offered_first = self._offered() if trace is None else []
        if trace is None:
            layer.check_catalog(self._offered_first)

    # Calling

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        call_id: str | None = None,
        key: str | None = None,
        function: Callable[..., Any] | None = None,
        declared: Declaration | None = None,
        in_band: InBand | None = None,
    ) -> Outcome:
        """Call a tool once, whatever that takes. It never raises for what the tool does.

        Args:
            tool: Name of a registered tool, or any name together with ``function``.
            arguments: The model's arguments.
            call_id: The model's id for the call, to match the result with.
            key: Idempotency key; by default a tool that takes one gets one that stays the same while the model
                repeats a failed call.
            function: Called instead of a registered tool's own function.
            declared: What ``function`` declares about itself. None: what the registered tool of this name does,
                if there is one, else the fail-closed default.
            in_band: Whether ``function`` returns its errors; None as for ``declared``.

        Raises:
            TypeError: The tool is async; use `acall`.
        """
        if self.observes and (function is not None or tool in self.layer.tools):
            watched, called = self._observed(tool, arguments or {}, function, call_id=call_id, key=key)
            with watched.kept():
                watched.returned(called())
            return watched.outcome()
        known = self._routes.get(tool) if function is None else None
        route = known or self._route(tool, function, declared, in_band)
        if route.is_async:
            raise TypeError(f"{tool!r} is an async tool: use `await run.acall(...)`")
        layer, decision = self.layer, None
        hands = layer.hands
        with Calling(self, route, arguments or {}, call_id, key) as calling:
            if route.own is None or layer.permission is not None:
                decision = self._refused(calling, self._asked(calling))
            if decision is None:
                decision = make(calling, hands.common, hands.sync, calling.trace)
            return self._answer(calling, decision)

    async def acall(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        call_id: str | None = None,
        key: str | None = None,
        function: Callable[..., Any] | None = None,
        declared: Declaration | None = None,
        in_band: InBand | None = None,
    ) -> Outcome:
        """Do what `call` does in the current task. A sync tool runs in a thread, so that the loop stays free."""
        if self.observes and (function is not None or tool in self.layer.tools):
            watched, called = self._observed(tool, arguments or {}, function, call_id=call_id, key=key)
            with watched.kept():
                answer = called()
                watched.returned(await answer if inspect.isawaitable(answer) else answer)
            return watched.outcome()
        known = self._routes.get(tool) if function is None else None
        route = known or self._route(tool, function, declared, in_band)
        layer, decision = self.layer, None
        hands = layer.hands
        with Calling(self, route, arguments or {}, call_id, key) as calling:
            if route.own is None or layer.permission is not None:
                verdict = self._asked(calling)
                decision = self._refused(calling, await _checked(verdict) if inspect.isawaitable(verdict) else verdict)
            if decision is None:
                decision = await amake(calling, hands.common, hands.asynchronous, calling.trace)
            return self._answer(calling, decision)

    def _observed(
        self, name: str, arguments: Mapping[str, Any], function: Callable[..., Any] | None, **how: str | None
    ) -> tuple[Watched, Callable[[], Any]]:
        """A call that is only observed, and what makes it."""
        called = function or self.layer.tools[name].function
        return self.watch(name, arguments, **how), lambda: called(**arguments)

    async def acall_all(self, calls: Sequence[tuple[str, Mapping[str, Any], str]]) -> list[Outcome]:
        """Make one turn's calls ``(tool, arguments, call_id)`` at the same time; one outcome each, in order.

        If one of them stops the run, those not yet begun answer that they were not run.
        """
        tasks = [self.acall(tool, arguments, call_id=call_id) for tool, arguments, call_id in calls]
        return list(await asyncio.gather(*tasks))

    def watch(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, call_id: str | None = None,
        key: str | None = None,
    ) -> Watched:  # fmt: skip
        """Observe a call that somebody else makes: record what fails, change nothing.

        ``with run.watch("search") as seen: value = seen.returned(search())``. ``key`` is the idempotency key that it
        is made with, if it is.
        """
        return Watched(self, self.layer.tools.get(tool), tool, arguments or {}, call_id=call_id, key=key)

    def answers(self, call_ids: Sequence[str]) -> list[Outcome]:
        """Give an outcome for every call of a turn, also for those that were cancelled or never begun.

        A transcript with an unanswered tool call is invalid: after an interruption, answer the turn with these.
        """
        stop = self._state.stopped.reason if self._state.stopped else None
        return [self._answers.get(call_id) or self._surfacer.not_run(call_id, stop) for call_id in call_ids]

    def model(self, ask: Callable[..., T], *models: str, name: str = "model") -> Model[T]:
        """Ask a model with recovery: retries, context overflow, and other models after repeated overloads.

        Args:
            ask: Sends one request: ``ask(model=..., max_tokens=..., **request)``; it may be async, for `Model.acall`.
            models: Names of the models, the preferred one first.
            name: Stands for the model's service in policy and traces: ``[tools.NAME.retry]``, ``[services.NAME]``.
        """
        return Model(self, ask, self.layer.chooser_for(models), name)

    # State

    @property
    def halted(self) -> Stop | None:
        """The engine's record of why the run stopped."""
        return self._state.stopped

    @property
    def stopped(self) -> Stopped | None:
        """None while the run may go on; else why not. Check it before each model request."""
        stop = self._state.stopped
        return None if stop is None else Stopped(stop.reason, STOP_MESSAGES[stop.reason], stop.tool)

    @property
    def degraded(self) -> frozenset[str]:
        """Names of the tools that this run has given up: do not offer them to the model again."""
        return frozenset(self._state.degraded)

    def stop(self, tool: str = "") -> None:
        """Stop the run: waiting calls give up, later ones answer that they were not run."""
        if self._state.stop(Stop("aborted", tool)):
            self.trace.event(RunStopped(tool=tool, reason="aborted"))

    def tools(self) -> list[dict[str, Any]]:
        """Describe the tools to the model, without those that this run has given up."""
        return [tool.spec() for tool in self.layer.tools if tool.name not in self._state.degraded]

    def offer(self, tools: Iterable[str]) -> None:
        """Say that the model is shown these tools too, which a framework knows and the layer does not.

        Suggestions may then name them, and the run's span lists them.
        """
        new = set(tools).difference(self._shown, self._offered_first)
        if new:
            self._shown |= new
            self._offered_first = sorted(new.union(self._offered_first))
            self.layer.check_catalog(self._offered_first)

    @lazy
    def span_of_call(self) -> Stencil:
        """What the spans of the run's calls have in common."""
        return Stencil(
            CallSpan, operation=CallSpan.OPERATION, tool_type="function", agent=self.agent,
            conversation=self.conversation, run_id=self.id, source=self.source, policy=self.policy.digest,
            observed=True if self.observes else None,
        )  # fmt: skip

    @lazy
    def _surfacer(self) -> Surfacer:
        policy, layer = self.policy.surface, self.layer
        return Surfacer(policy, layer.catalog, self.arm, self._state, self._offered, layer.count_tokens)

    @lazy
    def refreshes(self) -> Refreshes:
        """The credentials that this run has refreshed."""
        return Refreshes(self.layer.credentials)

    def _offered(self) -> list[str]:
        return sorted({*self._shown, *(tool.name for tool in self.layer.tools)} - self._state.degraded)

    # The way in

    def _route(
        self, name: str, function: Callable[..., Any] | None, declared: Declaration | None, in_band: InBand | None
    ) -> Route:
        """Find out how to call, once for each registered tool."""
        tool = self.layer.tools.get(name)
        if function is not None:
            if in_band is None:
                in_band = tool.in_band if tool else False
            tool = tool_from(function, name=name, declared=declared or _declared(tool), in_band=in_band)
        elif tool is None:
            return Route.of(self, made_up(name), None)  # not kept: a model may make up any number of names
        route = Route.of(self, name, tool)
        if function is None:
            self._routes[name] = route
        return route

    def key_for(self, target: str) -> str:
        """Make the idempotency key of a call: the same until a call with the same arguments has worked."""
        return safe_digest(self.layer.secret, self.id, target, self._done.get(target, 0))

    def _asked(self, calling: Calling) -> Any:
        """Ask the permission check, if there is one; a check that fails is a no."""
        check = self.layer.permission
        if check is None or calling.own is None or self._state.stopped is not None:
            return None
        try:
            return check(calling.tool, calling.arguments)
        except Exception as error:  # noqa: BLE001 - fail closed
            return _CHECK_FAILED.format(type(error).__name__)

    def _refused(self, calling: Calling, verdict: Any) -> Decision | None:
        """Decide without calling the tool, where it need not or must not be called."""
        if calling.own is None:
            return calling.no_such_tool(self.layer.tools.near(calling.tool))
        if verdict is None or verdict is True:
            self._state.allowed(calling.tool)
            return None
        reason = redact(verdict) if isinstance(verdict, str) and verdict else "not allowed"
        denials = self._state.denied(calling.tool)
        counted = {"consecutive": denials.consecutive, "total": denials.total}
        calling.emit(CallDenied(tool=calling.tool, reason=reason, drift=denials.drift, **counted))
        stop: StopReason | None = None
        if self._state.too_many_denials(denials) and self._state.stop(Stop("denials", calling.tool)):
            calling.emit(RunStopped(tool=calling.tool, reason="denials"))
            stop = "denials"
        return calling.denied(reason, stop)

    def _answer(self, calling: Calling, decision: Decision) -> Outcome:
        if decision.kind == "ok":
            outcome = answered(decision, calling.tool, calling.call_id)
            if calling.own is not None and calling.own.key_parameter is not None:
                self._done[calling.target] = self._done.get(calling.target, 0) + 1
        else:
            outcome = self._surfacer.outcome(decision, calling, calling.where, self.context_remaining)
            if outcome.packet is not None:
                self.layer.escalate(outcome.packet)
        if calling.call_id is not None:
            self._answers[calling.call_id] = outcome
        calling.end(decision)
        return outcome

    # The way out

    def close(self) -> None:
        """End the run. Calls that come later still work, but their spans have no run span to belong to."""
        self.trace.end(self._describe)

    def _describe(self) -> RunSpan:
        stop = self._state.stopped
        return RunSpan(
            operation=RunSpan.OPERATION, agent=self.agent, conversation=self.conversation, run_id=self.id,
            source=self.source, arm=self.arm, tools=",".join(self._offered_first), policy=self.policy.digest,
            catalog=self.layer.catalog.version, observed=True if self.observes else None,
            stop_reason=stop.reason if stop else None,
            error_type=(stop.fault.code if stop.fault else stop.reason) if stop else None,
        )  # fmt: skip

    def __enter__(self) -> Self:
        self.trace.activate()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self.trace.activate()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


async def _checked(verdict: Awaitable[Any]) -> Any:
    """Give what an async permission check answers; one that fails is a no."""
    try:
        return await verdict
    except Exception as error:  # noqa: BLE001 - fail closed
        return _CHECK_FAILED.format(type(error).__name__)


def _declared(tool: Tool | None) -> Declaration:
    return tool.declared if tool is not None else Declaration()


def new_run_id(random: Random) -> str:
    """Make 16 hex digits that name a run."""
    return f"{random.getrandbits(64):016x}"


def arm_for(run_id: str, held_out: float) -> Arm:
    """Assign a run to an experiment arm, by its id alone: the same id always lands in the same arm."""
    if not held_out:
        return "context"
    share = int(safe_digest(b"toolerrors-arm", run_id), 16) / 2**64
    return "bare" if share < held_out else "context"
