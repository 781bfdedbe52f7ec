"""Whatever can be called can be a tool, and is called the way it wants to be."""

import asyncio
import inspect
from functools import partial, wraps

import pytest

from otel_toolerrors.layer.tools import tool_from
from otel_toolerrors.policy import Declaration


def plain():
    """Return."""
    return "ab"


async def awaited():
    """Return, when awaited."""
    return "ab"


def handing_out():
    """Return what has to be awaited, which nobody can see unless it is marked."""
    return awaited()


def yielding():
    """Return in parts."""
    yield from "ab"


async def awaited_yielding():
    """Return in parts, when awaited."""
    for letter in "ab":
        yield letter


class Called:
    """An object that can be called, and its async method."""

    def __call__(self):
        """Return."""
        return "ab"

    async def method(self):
        """Return, when awaited."""
        return "ab"


class AwaitedCalled:
    """An object whose call is awaited."""

    async def __call__(self):
        """Return, when awaited."""
        return "ab"


KINDS = {
    "function": (plain, False),
    "lambda": (lambda: "ab", False),
    "async function": (awaited, True),
    "generator": (yielding, False),
    "async generator": (awaited_yielding, True),
    "partial": (partial(plain), False),
    "async partial": (partial(awaited), True),
    "wrapped": (wraps(plain)(lambda: "ab"), False),
    "object": (Called(), False),
    "async object": (AwaitedCalled(), True),
    "async method": (Called().method, True),
}
if hasattr(inspect, "markcoroutinefunction"):  # Python 3.12
    KINDS["marked"] = (inspect.markcoroutinefunction(handing_out), True)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_tool_is_made_of(kind):
    """It is known whether it is async, and a stream comes as a whole."""
    function, is_async = KINDS[kind]
    tool = tool_from(function, name="t", declared=Declaration(), in_band=False)
    assert tool.is_async is is_async
    assert (asyncio.run(_finished(tool.function())) if is_async else tool.function()) == "ab"


async def _finished(awaitable):
    return await awaitable
