from pathlib import Path

from otel_toolerrors.faults.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "classification.md"


def test_the_page_shows_the_rules_as_they_are():
    """docs/classification.md is what the rules say now; `make docs-reference` writes it."""
    assert page() == PAGE.read_text("utf-8")
