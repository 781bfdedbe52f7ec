"""What a scenario is, and what its label may say. Scenario modules import it as ``registry``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

EITHER = None
"""``retryable_read=EITHER``: repeating and not repeating are both defensible."""


class Skip(Exception):
    """Raised by a scenario that cannot run here."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A function that makes a real library fail, and what a competent engineer wants from a classifier of it."""

    id: str
    func: Callable[[], Any] = field(repr=False)
    lib: str
    category: frozenset[str]
    """Every category that is right; ``ok`` for a returned value that only looks like an error."""
    retryable_read: bool | None
    side_effect_state: frozenset[str]
    reason: str
    retry_after_s: tuple[float | None, ...] = (None,)
    raises: str | None = None
    returns: bool = False
    constructed: bool = False
    """True for an exception that had to be built by hand."""
    rest: dict[str, Any] = field(default_factory=dict)


REGISTRY: dict[str, Scenario] = {}


def scenario(id: str, **label: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:  # noqa: A002 - the form's own word
    """Register the decorated function under its label."""
    label["category"] = frozenset(label["category"].split("|"))
    label["side_effect_state"] = frozenset(label["side_effect_state"].split("|"))
    wait = label.get("retry_after_s")
    label["retry_after_s"] = wait if isinstance(wait, tuple) else (wait,)
    known = {name: label.pop(name) for name in list(label) if name in Scenario.__dataclass_fields__}

    def register(func: Callable[[], Any]) -> Callable[[], Any]:
        if id in REGISTRY:
            raise ValueError(f"two scenarios are called {id}")
        REGISTRY[id] = Scenario(id=id, func=func, rest=label, **known)
        return func

    return register
