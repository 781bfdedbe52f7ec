"""Walk a page: make its files, type its commands, and put down what they print.

python -m tests.docs.walk      # writes docs/tutorial.md anew
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r'^```(python title="(?P<file>[^"]+)"|console)\n(?P<body>.*?)^```$', re.MULTILINE | re.DOTALL)

_SHELL = f"""
set -e
python() {{ {shlex.quote(sys.executable)} {shlex.quote(str(Path(__file__).with_name("hurried.py")))} "$@"; }}
toolerrors() {{ {shlex.quote(sys.executable)} -m otel_toolerrors.cli "$@"; }}
"""
"""The reader's commands. Scripts run in simulated time."""


def walked(page: str, folder: Path) -> str:
    """The page, with what its commands print in ``folder`` today."""
    return _BLOCK.sub(lambda block: _done(block, folder), page)


def files(page: str) -> dict[str, str]:
    """The page's files as they are at its end."""
    return {block["file"]: block["body"] for block in _BLOCK.finditer(page) if block["file"]}


def _done(block: re.Match[str], folder: Path) -> str:
    if block["file"]:
        (folder / block["file"]).write_text(block["body"], encoding="utf-8")
        return block[0]
    return "```console\n" + "".join(_typed(command, folder) for command in _commands(block["body"])) + "```"


def _commands(body: str) -> list[str]:
    """Each command, as it stands on the page."""
    return re.findall(r"^\$ .*\n", body, re.MULTILINE)


def _typed(command: str, folder: Path) -> str:
    typed = command.removeprefix("$ ")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "ORDERS"))}
    done = subprocess.run(
        ["bash", "-c", _SHELL + typed],
        cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{typed}\n{done.stdout}"
    printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())
    return command + printed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        TUTORIAL.write_text(walked(TUTORIAL.read_text(encoding="utf-8"), Path(name)), encoding="utf-8")
