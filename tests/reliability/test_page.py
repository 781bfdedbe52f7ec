"""docs/reliability.md and the tests say the same."""

import ast
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
_LINK = re.compile(r"\[`(test_\w+)`\]\(([^)]+)\)")


def _rows():
    """Test and file of every link on the page."""
    return [(name, (PAGE.parent / path).resolve()) for name, path in _LINK.findall(PAGE.read_text(encoding="utf-8"))]


def _tests(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in tree.body if isinstance(node, kinds) and node.name.startswith("test_")}


def test_every_row_of_the_page_is_a_test():
    """Each link leads to a file that defines the test it names, and no test stands in two rows."""
    rows = _rows()
    assert [] == [(name, path) for name, path in rows if name not in _tests(path)]
    assert len(rows) == len(set(rows))


def test_every_test_of_this_folder_has_a_row():
    """What is tested here can be read on the page."""
    on_page = {name for name, _ in _rows()}
    here = {
        name for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_page.py" for name in _tests(path)
    }
    assert set() == here - on_page


def test_there_are_enough_faults():
    """The table of faults survived has at least twenty-five rows."""
    faults = PAGE.read_text(encoding="utf-8").split("## Faults survived")[1].split("\n## ")[0]
    assert len(_LINK.findall(faults)) >= 25
