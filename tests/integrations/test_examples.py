import runpy
from pathlib import Path

import pytest

EXAMPLES = Path("docs/integrations/examples")

PRINTS = {
    "agent_framework_agent": ("agent_framework", "one result for lamps\nThere is one lamp."),
    "anthropic_runner": ("anthropic", "There is one lamp."),
    "fastmcp_server": ("fastmcp", "one result for lamps"),
    "functions": ("otel_toolerrors", "no answer ['order: 1 attempt(s), transient, timeout; side effects: unknown']"),
    "google_adk_agent": ("google.adk", "one result for lamps'}\nThere is one lamp."),  # in tests/apart
    "http_client": ("httpx", "one result"),
    "langchain_agent": ("langchain", "one result for lamps\nThere is one lamp."),
    "mcp_client": ("mcp", "one result for lamps"),
    "mcp_server": ("mcp", '"category": "validation"'),
    "model_requests": ("anthropic", "529 large 11760\n200 small 11760\nHello."),
    "openai_agents_run": ("agents", "There is one lamp."),
    "pydantic_ai_agent": ("pydantic_ai", "There is one lamp."),
    "raw_anthropic": ("anthropic", "one result for lamps\nThere is one lamp."),
    "raw_openai": ("openai", "I could not finish: access was denied."),
}
"""What each example needs, and what it prints among other things."""


@pytest.mark.parametrize("name", PRINTS)
def test_example_runs_and_prints_what_its_page_says(name, capsys):
    """Every example of the documentation runs as it stands."""
    needs, expected = PRINTS[name]
    pytest.importorskip(needs, reason=f"the example shows {needs}")

    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    assert expected in capsys.readouterr().out


def test_every_example_is_run():
    """No example goes untested."""
    assert set(PRINTS) == {path.stem for path in EXAMPLES.glob("*.py")}
