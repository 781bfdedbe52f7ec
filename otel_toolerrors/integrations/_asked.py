"""What every loop of one's own does with the tool calls that a model asks for, whatever the provider's wire form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from otel_toolerrors.layer import Run
from otel_toolerrors.policy import Declaration
from otel_toolerrors.surface import Outcome

C = TypeVar("C")

_NOT_MADE = Declaration(effects="read")
"""A call with unreadable arguments has no effect, whatever its tool declares."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One tool call, as the model asked for it."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any] | str
    """Decoded, or JSON text."""

    def made_in(self, run: Run) -> Outcome:
        """Make the call."""
        try:
            return run.call(self.tool, self._decoded(), call_id=self.call_id)
        except _UnreadableArgumentsError as error:
            return run.call(self.tool, call_id=self.call_id, function=_raiser(error), declared=_NOT_MADE)

    async def amade_in(self, run: Run) -> Outcome:
        """Make the call in the current task."""
        try:
            return await run.acall(self.tool, self._decoded(), call_id=self.call_id)
        except _UnreadableArgumentsError as error:
            return await run.acall(self.tool, call_id=self.call_id, function=_raiser(error), declared=_NOT_MADE)

    def _decoded(self) -> Mapping[str, Any]:
        if not isinstance(self.arguments, str):
            return self.arguments
        try:
            decoded = json.loads(self.arguments or "{}")
        except ValueError as error:
            raise _UnreadableArgumentsError(f"the arguments are not JSON: {error}") from None
        if not isinstance(decoded, dict):
            raise _UnreadableArgumentsError("the arguments must be a JSON object")
        return decoded


class _UnreadableArgumentsError(ValueError):
    """What a model wrote instead of arguments."""


def _raiser(error: Exception) -> Any:
    def unreadable() -> None:
        raise error

    return unreadable


def make(run: Run, asked: Iterable[Asked]) -> list[Outcome]:
    """Make a turn's calls one after the other. Those that come after a stop answer that they were not run."""
    return [call.made_in(run) for call in asked]


async def amake(run: Run, asked: Iterable[Asked]) -> list[Outcome]:
    """Make a turn's calls at the same time; the outcomes are in the order of the calls."""
    return list(await asyncio.gather(*(call.amade_in(run) for call in asked)))


def field(item: Any, name: str) -> Any:
    """Read a part of a message, which may be a dictionary or one of the SDK's objects."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def once(client: C) -> C:
    """Give the SDK's client without its own retries (``max_retries=0``), which would multiply with those around it."""
    return client.with_options(max_retries=0)  # type: ignore[attr-defined, no-any-return]
