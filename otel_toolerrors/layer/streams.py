"""Tools that stream: a model can only be told of a whole result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import aclosing
from functools import wraps
from typing import Any


def collected(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that returns all that a generator function yields; others are given back as they are.

    An attempt is the whole stream: one that breaks off has failed, and its parts are thrown away.
    """
    if inspect.isasyncgenfunction(function):

        @wraps(function)
        async def acollect(*args: Any, **kwargs: Any) -> Any:
            return await adrained(function(*args, **kwargs))

        return acollect
    if inspect.isgeneratorfunction(function):

        @wraps(function)
        def collect(*args: Any, **kwargs: Any) -> Any:
            return drained(function(*args, **kwargs))

        return collect
    return function


def drained(value: Any) -> Any:
    """Give all that a generator yields, as one value; anything else is given back."""
    return _whole(list(value)) if inspect.isgenerator(value) else value


async def adrained(value: Any) -> Any:
    """Do what `drained` does, with generators of either kind."""
    if not inspect.isasyncgen(value):
        return drained(value)
    async with aclosing(value) as parts:
        return _whole([part async for part in parts])


def _whole(parts: list[Any]) -> Any:
    """Join text; keep anything else in a list."""
    return "".join(parts) if parts and all(isinstance(part, str) for part in parts) else parts
