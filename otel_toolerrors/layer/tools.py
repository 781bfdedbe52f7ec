"""The tools of a layer: what they are called, what they declare, how they are called."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from pydantic import PydanticUserError, TypeAdapter

from otel_toolerrors.faults import redact
from otel_toolerrors.policy import Declaration
from otel_toolerrors.surface import neutralise

from .streams import collected

_LONGEST_NAME = 80
"""Characters of a made-up name; providers allow 64 to 128 for a real one."""

InBand = Callable[[Any], bool] | bool
"""Whether a tool's errors come back as values: True for the known forms, or a test of one's own."""

_EXTRAORDINARY = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR

KEY_PARAMETER = "idempotency_key"
"""A tool with a parameter of this name is given its idempotency key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that a model may call."""

    name: str
    function: Callable[..., Any]
    description: str | None = None
    """For the model; None: the first paragraph of the function's docstring."""
    declared: Declaration
    is_async: bool = False
    key_parameter: str | None = None
    """Name of the parameter that takes an idempotency key."""
    in_band: InBand = False

    def spec(self) -> dict[str, Any]:
        """Describe the tool to a model: name, description and the JSON schema of its arguments.

        Raises:
            TypeError: An argument's type has no JSON schema.
        """
        # Of an object that can be called, pydantic wants the method.
        callee: Any = self.function if inspect.isroutine(self.function) else self.function.__call__  # type: ignore[operator]
        try:
            schema: dict[str, Any] = TypeAdapter(callee).json_schema()
        except (PydanticUserError, NameError) as error:
            problem = str(error).split("\n", maxsplit=1)[0]
            raise TypeError(f"tool {self.name!r}: its arguments cannot be described as JSON: {problem}") from error
        if self.key_parameter is not None:  # ours to fill in, not the model's
            schema.get("properties", {}).pop(self.key_parameter, None)
            schema["required"] = [name for name in schema.get("required", []) if name != self.key_parameter]
        described = self.description
        if described is None:
            described = (inspect.getdoc(self.function) or "").split("\n\n")[0]
        return {"name": self.name, "description": described, "input_schema": schema}


class Tools:
    """The registry, by name."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, tool: Tool) -> None:
        """Register a tool; a name can be taken once.

        Raises:
            ValueError: The name is taken.
        """
        if tool.name in self._tools:
            raise ValueError(f"a tool named {tool.name!r} is registered already; give this one another name=")
        self._tools[tool.name] = tool

    def near(self, name: str) -> list[str]:
        """List the names that ``name`` may have meant."""
        return difflib.get_close_matches(name, self._tools, n=3, cutoff=0.6)

    def get(self, name: str) -> Tool | None:
        """Find a tool."""
        return self._tools.get(name)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(tuple(self._tools.values()))


def made_up(name: str) -> str:
    """Show a name that nobody registered. A model wrote it: it is redacted, made harmless and cut."""
    return neutralise(redact(str(name)), _LONGEST_NAME) if name else "(no name)"


def tool_from(function: Callable[..., Any], *, name: str | None, declared: Declaration, in_band: InBand) -> Tool:
    """Make a tool of a function; a generator's items become one value."""
    takes_key, is_async = _takes_key(function), False
    if not _is_ordinary(function):
        function = collected(function)
        # An instance may have an async __call__.
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    return Tool(
        name=name or str(getattr(function, "__name__", type(function).__name__)),
        function=function,
        declared=declared,
        is_async=is_async,
        key_parameter=KEY_PARAMETER if takes_key else None,
        in_band=in_band,
    )


def _is_ordinary(function: Callable[..., Any]) -> bool:
    """Whether it can be seen at once that it is neither async nor a generator, nor marked as what it is not."""
    return type(function) is FunctionType and not function.__dict__ and not function.__code__.co_flags & _EXTRAORDINARY


def _takes_key(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__wrapped__"):
        return KEY_PARAMETER in inspect.signature(function).parameters
    return (
        KEY_PARAMETER in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    )  # frameworks hand in a closure a call
