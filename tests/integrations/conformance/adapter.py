"""What the suite knows of an adapter."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.integrations.conformance.scenarios import Scenario
from tests.integrations.conformance.stage import Seen, Stage

FRAMEWORKS = {
    "raw": ("anthropic", "openai"),
    "anthropic_runner": ("anthropic",),
    "langchain": ("langchain", "langgraph"),
    "pydantic_ai": ("pydantic_ai",),
    "openai_agents": ("agents",),
    "agent_framework": ("agent_framework",),
    "google_adk": ("google.adk",),
    "mcp": ("mcp",),
    "fastmcp": ("fastmcp",),
    "httpx": ("httpx",),
    "functions": (),
}
"""Module of adapters: what must be installed for it."""

APART = frozenset({"google_adk"})
"""Modules of adapters whose framework shares an environment with none of the others: see ``tests/apart``."""

NO_MODEL = "no model reads it: what went wrong comes out as it is"
NO_RUN = "it belongs to no run"


@dataclass(frozen=True)
class Adapter:
    """One way to use the layer."""

    name: str
    converse: Callable[[Stage], Seen]
    """Plays the stage's turns with the stage's tools."""
    asynchronous: bool = False
    interrupt: Callable[[], Any] | None = None
    impossible: dict[str, str] = field(default_factory=dict)
    """Scenario: why the framework makes it impossible."""


def adapters_of(module: str) -> tuple[Adapter, ...]:
    """Load one module of adapters."""
    return importlib.import_module(f"tests.integrations.conformance.adapters.{module}").ADAPTERS


def play(adapter: Adapter, scenario: Scenario) -> None:
    """Play one scenario through one adapter, and check what came of it."""
    stage = Stage(scenario.turns, scenario.policy)
    stage.asynchronous = adapter.asynchronous
    if adapter.interrupt is not None:
        stage.interrupt = adapter.interrupt
    scenario.set_up(stage)
    scenario.check(stage, adapter.converse(stage))
