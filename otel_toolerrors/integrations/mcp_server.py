"""MCP: a guard for the tools of a server."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.layer.tools import InBand
from otel_toolerrors.vocabulary import Effects

from ._mcp_results import ENVELOPE, FORM

__all__ = ["ENVELOPE", "guard"]

F = TypeVar("F", bound=Callable[..., Any])


def guard(
    layer: RecoveryLayer,
    *,
    name: str | None = None,
    effects: Effects = "write",
    in_band: InBand = False,
    **declared: Any,
) -> Callable[[F], F]:
    """Guard a tool of an MCP server; put it below ``@server.tool()``.

    The tool becomes async and keeps its signature. What fails in the end is a result with ``isError``: a readable
    text, and the envelope in ``structuredContent`` and ``_meta``. A server does not own the run, so a guard stops
    none.

    Args:
        layer: Decides.
        name: The function's own name if None.
        effects: As for `RecoveryLayer.tool`.
        in_band: As for `RecoveryLayer.tool`.
        declared: More of what `RecoveryLayer.tool` takes: ``service``, ``fallback``, ``credential``, ``cache_ttl``.
    """  # fmt: skip

    def register(function: F) -> F:
        known_as = name or function.__name__
        layer.tool(name=known_as, effects=effects, in_band=in_band, **declared)(function)

        @wraps(function)
        async def guarded(**arguments: Any) -> Any:
            outcome = await layer.alone().acall(known_as, arguments)
            return outcome.value if outcome.ok and outcome.note is None else FORM.render(outcome, None)

        return cast("F", guarded)

    return register
