"""Make the notebooks from their scripts, and run them, so that their outputs show on a code host.

    python notebooks/build.py [NAME ...]

The scripts are the source; what Jupyter saves is written back to them by jupytext.
"""

from __future__ import annotations

import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def build(script: Path) -> Path:
    """Run one script as a notebook, and save it beside it."""
    notebook = jupytext.read(script)
    NotebookClient(notebook, timeout=600, record_timing=False, resources={"metadata": {"path": str(HERE)}}).execute()
    notebook.metadata.pop("language_info", None)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # random ids would change with every build
    target = script.with_suffix(".ipynb")
    nbformat.write(notebook, target)
    return target


if __name__ == "__main__":
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("0*.py"))
    for name in names:
        print(build(HERE / f"{name}.py").name, flush=True)
