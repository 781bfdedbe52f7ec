"""What a tool's annotations (MCP's hints) may change: they can only make us stricter, unless the server is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_toolerrors.vocabulary import Effects

_STRICTNESS: tuple[Effects, ...] = ("read", "idempotent", "write", "destructive")


def effects_from_hints(declared: Effects, hints: Mapping[str, Any] | None, *, trusted: bool = False) -> Effects:
    """Give the effects to assume for a tool that declares ``declared`` and comes with MCP annotations.

    The specification calls annotations hints that an untrusted server may lie about, so a claim to be harmless is
    only believed when the server is ``trusted``; a claim to be harmful always is.
    """
    hinted = _hinted(hints or {})
    if hinted is None:
        return declared
    return hinted if trusted else max(declared, hinted, key=_STRICTNESS.index)


def _hinted(hints: Mapping[str, Any]) -> Effects | None:
    said = {name for name in ("readOnlyHint", "destructiveHint", "idempotentHint") if isinstance(hints.get(name), bool)}
    if not said:
        return None
    if hints.get("readOnlyHint") is True:
        return "read"
    if hints.get("idempotentHint") is True:
        return "idempotent"
    # The specification's default for a tool that is not read-only is destructive.
    return "write" if hints.get("destructiveHint") is False else "destructive"
