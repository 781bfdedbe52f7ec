"""The table adapter × scenario, as the documentation shows it.

A cell says yes because the suite has a test for it that passes; where there is none, it gives the adapter's reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tests.integrations.conformance.adapter import APART, FRAMEWORKS, Adapter, adapters_of
from tests.integrations.conformance.scenarios import SCENARIOS

PAGE = "docs/integrations/conformance.md"

RELEASES = "Releases that this page was made with:"

_DISTRIBUTIONS = {
    "agent_framework": "agent-framework-core",
    "agents": "openai-agents",
    "pydantic_ai": "pydantic-ai-slim",
}

_HEAD = """\
# Conformance

Every adapter plays the same scenarios, with the real framework and a scripted model: the framework's own fake
model, or the real SDK client against a local server that speaks the provider's wire form and refuses an invalid
transcript. `tests/integrations` or `tests/apart` has a test for each **yes**; a number says why the framework makes it
impossible.

This page is generated: `python -m tests.integrations.conformance`.
"""


def render() -> str:
    """Write the page."""
    adapters = [adapter for framework in FRAMEWORKS for adapter in adapters_of(framework)]
    reasons = _numbered(adapters)
    return "\n".join([_HEAD, *_rows(adapters, reasons), "", *_notes(reasons), "", *_releases(), ""])


def _numbered(adapters: list[Adapter]) -> dict[str, int]:
    """Number the reasons in the order in which a reader meets them."""
    met = (a.impossible[s.name] for s in SCENARIOS for a in adapters if s.name in a.impossible)
    return {reason: number for number, reason in enumerate(dict.fromkeys(met), 1)}


def _rows(adapters: list[Adapter], reasons: dict[str, int]) -> Iterator[str]:
    yield f"| Adapter | {' | '.join(scenario.title for scenario in SCENARIOS)} |"
    yield f"|---|{'---|' * len(SCENARIOS)}"
    for adapter in adapters:
        cells = (_cell(adapter, scenario.name, reasons) for scenario in SCENARIOS)
        yield f"| {adapter.name} | {' | '.join(cells)} |"


def _cell(adapter: Adapter, scenario: str, reasons: dict[str, int]) -> str:
    return str(reasons[adapter.impossible[scenario]]) if scenario in adapter.impossible else "yes"


def _notes(reasons: dict[str, int]) -> Iterator[str]:
    for reason, number in reasons.items():
        yield f"{number}. {reason[0].upper()}{reason[1:]}."


def _releases() -> Iterator[str]:
    yield RELEASES
    yield ""
    together = {module for name, modules in FRAMEWORKS.items() for module in modules if name not in APART}
    distributions = {_DISTRIBUTIONS.get(module, module) for module in together}
    yield from (f"- {name} {version(name)}" for name in sorted(distributions))
    for module in APART:
        pin = Path(f"tests/apart/requirements/{module}.txt").read_text(encoding="utf-8").strip()
        yield f"- {pin.replace('==', ' ')}, in an environment of its own: `make test-apart`"
