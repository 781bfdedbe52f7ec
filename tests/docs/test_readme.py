"""The numbers on the first page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "README.md"


def test_demo_prints_the_numbers_of_the_readme(tmp_path):
    """The table is what `make demo` says of the faults that the tuner never saw, and the trace it names is there."""
    page = README.read_text(encoding="utf-8")
    shown = re.findall(r"^\| (.+?) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    command = [sys.executable, "-m", "otel_toolerrors.cli", "demo", "--keep", tmp_path]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    measured = re.findall(r"^(\w.*?)  +\d+ +\d+  \w+ +(\d+) +(\d+)  \w+$", printed, re.MULTILINE)

    assert shown
    assert [row for row in measured if row[0] in {label for label, *_ in shown}] == shown
    assert re.search(r" show (\w{8}) ", printed)[1] == re.search(r" show (\w{8}) ", page)[1]
