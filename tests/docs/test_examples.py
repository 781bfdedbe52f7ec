"""Every Python block of the documentation runs."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks():
    """Find the examples of the recovery pages, by page and number."""
    for page in sorted((DOCS / "recovery").glob("*.md")):
        for number, block in enumerate(_BLOCK.findall(page.read_text(encoding="utf-8")), start=1):
            yield pytest.param(block, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("block", list(blocks()))
def test_example_runs(block):
    """An example that stops working is a lie."""
    exec(compile(block, "example", "exec"), {"__name__": "example"})  # noqa: S102 - our own documentation


def test_every_capability_page_is_linked_and_has_its_tests():
    """The index names each page, and each page names tests that exist."""
    index = (DOCS / "recovery.md").read_text(encoding="utf-8")
    for page in (DOCS / "recovery").glob("*.md"):
        assert f"(recovery/{page.name})" in index
        named = re.search(r"^Tests: (.*)\.$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert named, page
        for path in re.findall(r"`([^`]+)`", named[1]):
            assert (DOCS.parent / path).exists(), f"{page.name} names {path}"


def test_policy_reference_is_what_the_model_says():
    """docs/policy.md is current; `make docs-reference` rewrites it."""
    from otel_toolerrors.policy.reference import render  # noqa: PLC0415 - only this test needs it

    assert render() == (DOCS / "policy.md").read_text(encoding="utf-8")
