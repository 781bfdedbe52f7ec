"""The tutorial, typed."""

import re
from pathlib import Path

import pytest

from tests.docs.walk import TUTORIAL, walked

pytestmark = pytest.mark.slow

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "01_first_look.ipynb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty directory, as the reader has one."""
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture(scope="module")
def page(folder):
    """What the page would say today."""
    return walked(TUTORIAL.read_text(encoding="utf-8"), folder)


def test_commands_print_what_the_page_shows(page):
    """Every command works from an empty directory, and prints what stands below it (`make docs-reference`)."""
    assert TUTORIAL.read_text(encoding="utf-8") == page


def test_notebook_opens_on_the_readers_own_traces(page, folder, monkeypatch):
    """The notebook runs over the traces that the tutorial's agent left, named in the environment."""
    nbformat = pytest.importorskip("nbformat", reason="the extra `notebooks` brings Jupyter")
    nbclient = pytest.importorskip("nbclient", reason="the extra `notebooks` brings Jupyter")
    monkeypatch.setenv("TOOLERRORS_TRACES", str(folder / ".toolerrors" / "before"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)

    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()

    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output.get("data", {}).get("text/plain", "") for output in outputs]
    runs, calls, recovered = re.search(r"^(\d+) runs, (\d+) calls: .* (\d+) recovered", page, re.MULTILINE).groups()
    counted = f"{{'runs': {runs}, 'calls': {calls}, 'recovered': {recovered}, "
    assert [text for text in shown if text.startswith(counted)]
