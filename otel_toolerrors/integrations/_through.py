"""How an adapter sends a framework's tool call through a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from otel_toolerrors.layer import Run
from otel_toolerrors.layer.streams import adrained, drained
from otel_toolerrors.layer.tools import InBand
from otel_toolerrors.layer.watch import Watched
from otel_toolerrors.policy import Declaration
from otel_toolerrors.surface import Outcome

R = TypeVar("R")
_INVALID_PARAMS: Final = -32602


@dataclass(frozen=True, slots=True)
class Form(Generic[R]):
    """How a framework writes a tool's result."""

    render: Callable[[Outcome, str | None], R]
    """Writes an outcome as a result for a call id, or raises what the framework wants raised."""
    plain: Callable[[R], Any] = lambda result: result
    """Reads what a result says: its value, or the mapping that `reported` makes, if it says that it is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called(Generic[R]):
    """A tool call as a framework makes it."""

    run: Run
    form: Form[R]
    tool: str
    arguments: Mapping[str, Any]
    call_id: str | None
    declared: Declaration | None = None

    def through(self, handler: Callable[[], R]) -> R:
        """Make the call with recovery. In observe mode it is made once, and nothing about it changes."""
        if self.run.policy.mode == "observe":
            with self.run.watch(self.tool, self.arguments, call_id=self.call_id) as seen:
                return self._looked_at(handler(), seen)
        last: list[R] = []

        def attempt(**_: Any) -> Any:
            last[:] = [drained(handler())]
            return self.form.plain(last[0])

        outcome = self.run.call(self.tool, self.arguments, function=attempt, **self._how())
        return self._result(outcome, last)

    async def athrough(self, handler: Callable[[], Awaitable[R]]) -> R:
        """Do what `through` does in the current task."""
        if self.run.policy.mode == "observe":
            with self.run.watch(self.tool, self.arguments, call_id=self.call_id) as seen:
                return self._looked_at(await handler(), seen)
        last: list[R] = []

        async def attempt(**_: Any) -> Any:
            last[:] = [await adrained(await handler())]
            return self.form.plain(last[0])

        outcome = await self.run.acall(self.tool, self.arguments, function=attempt, **self._how())
        return self._result(outcome, last)

    def _how(self) -> dict[str, Any]:
        return {"call_id": self.call_id, "declared": self.declared, "in_band": self._in_band()}

    def _in_band(self) -> InBand:
        known = self.run.layer.tools.get(self.tool)
        return _or_reported(known.in_band if known is not None else False)

    def _looked_at(self, result: R, seen: Watched) -> R:
        plain, in_band = self.form.plain(result), self._in_band()
        if in_band is True or (callable(in_band) and in_band(plain)):
            seen.returned(plain)
        return result

    def _result(self, outcome: Outcome, last: list[R]) -> R:
        """What the tool itself returned is passed on as it is; all else is rendered."""
        own = outcome.ok and outcome.fallback is None
        return last[0] if own else self.form.render(outcome, self.call_id)


def reported(content: Any, structured: Any = None) -> dict[str, Any]:
    """Say in neutral form that a framework's result is an error."""
    return {"isError": True, "content": content, "structuredContent": structured}


def refused(text: Any) -> dict[str, Any]:
    """Say that a framework has refused the arguments, as JSON-RPC says it, so that nothing is lost."""
    return reported(text, {"error": {"code": _INVALID_PARAMS, "message": text}})


def _or_reported(own: InBand) -> InBand:
    """Errors that a framework has turned into results count, whatever the tool itself declares."""

    def may_be_error(value: Any) -> bool:
        return (type(value) is dict and value.get("isError") is True) or (own(value) if callable(own) else own)

    return True if own is True else may_be_error
