"""What the site's pages say of the code. That it builds without a warning is a gate of its own: `make docs`."""

import re
from pathlib import Path

import yaml

import otel_toolerrors
from tests.house.public_api import public_modules

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_EMPTY = {"", "integrations.observe"}
"""The package itself, whose names are listed one by one, and the observers, which entry points find."""


def test_api_pages_name_every_public_name_and_no_other():
    """The reference has each public module, and of the package itself each name that no other page has."""
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "api").glob("*.md")))
    named = re.findall(r"^::: otel_toolerrors\.(\S+)", pages, re.MULTILINE)
    modules = {module.partition(".")[2] for module in public_modules()} | {"integrations.google_adk"}
    elsewhere = set(re.findall(r"`te\.(\w+)`", (DOCS / "api" / "index.md").read_text(encoding="utf-8")))

    core = set(otel_toolerrors.__all__) - elsewhere
    assert sorted(modules - _EMPTY | core) == sorted(named)


def test_every_page_is_in_the_menu():
    """A page that the menu does not name is found by nobody."""

    def pages(menu):
        for entry in menu:
            below = next(iter(entry.values())) if isinstance(entry, dict) else entry
            yield from pages(below) if isinstance(below, list) else [below]

    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")) == sorted(pages(menu))


def test_architecture_names_what_exists():
    """Every file and folder that the page sends a reader to is there."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:otel_toolerrors|tests|docs|benchmarks|collector)/[^`]*)`", page)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_benchmark_index_links_every_page():
    """What was measured is found from one place."""
    index = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert [page.name for page in (DOCS / "benchmarks").glob("*.md") if f"(benchmarks/{page.name})" not in index] == []
