import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
MODULES = [name for name in TRACKED if re.fullmatch(r"otel_toolerrors/.*\.py", name)]
PAGES = [name for name in TRACKED if name.endswith(".md") and not name.startswith("otel_toolerrors/")]


@pytest.mark.parametrize("module", MODULES)
def test_module_stays_small(module):
    """A module that outgrows 400 lines, blank ones aside, holds two things."""
    lines = (ROOT / module).read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 400


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    """A relative link on a page names a file of this repository."""
    text = re.sub(r"`+[^`]*`+", "", (ROOT / page).read_text())  # code may look like a link
    targets = [
        target
        for target in re.findall(r"\]\(([^)#\s]+)", text)
        if "://" not in target and not target.startswith("mailto:")
    ]
    assert [target for target in targets if not ((ROOT / page).parent / target).exists()] == []


def test_every_ignored_rule_is_justified():
    """A lint rule that is switched off in the configuration has its reason beside it."""
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    ignored = [line for line in lines if re.match(r'\s+"[A-Z]+[0-9]*",', line)]
    assert ignored
    assert [line for line in ignored if "#" not in line] == []


def test_every_dependency_is_pinned():
    """The constraints pin each direct dependency to one version for a platform, and name no host."""
    files = [ROOT / "constraints.txt", *(ROOT / "tests/apart/requirements").glob("*.txt")]
    text = "".join(file.read_text() for file in files)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(item for extra in project["optional-dependencies"].values() for item in extra),
    ]
    names = {re.match(r"[a-z0-9-]+", item)[0] for item in wanted} - {project["name"]}
    assert {name for name in names if not re.search(rf"^{name}==", text, re.MULTILINE)} == set()
    assert "://" not in text
