import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from otel_toolerrors.cli.codes import ExitCode

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "demo", "analyze", "show", "report", "apply", "replay", "tune", "pull", "classify", "doctor", "policy",
)  # fmt: skip


def _run(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "otel_toolerrors.cli", *arguments], capture_output=True, text=True, check=False, **more
    )


def test_help_lists_the_commands_in_plain_text():
    """The program itself prints its help: every command, and no character that a pipe cannot take."""
    done = _run("--help")
    assert done.returncode == ExitCode.DONE
    assert [name for name in COMMANDS if not re.search(rf"^  {name} ", done.stdout, re.MULTILINE)] == []
    assert done.stdout.isascii()


def test_help_is_not_cut():
    """What a command does is said in a line that an ordinary terminal has room for."""
    texts = [_run(*command, "--help").stdout for command in ((), ("policy",))]
    assert [
        line for text in texts for line in text.splitlines() if line.startswith("  ") and line.endswith("...")
    ] == []


def test_version_is_that_of_the_package():
    """Who reports a problem can say with what."""
    done = _run("--version")
    assert (done.returncode, done.stdout) == (ExitCode.DONE, f"toolerrors {version('otel-toolerrors')}\n")


def test_unknown_option_is_usage():
    """An option that does not exist ends with the code for wrong usage."""
    assert ExitCode.USAGE == _run("analyze", "--no-such-option").returncode


def test_closed_pipe_is_no_error():
    """A reader that has seen enough ends the command without a word."""
    command = f"{sys.executable} -m otel_toolerrors.cli policy rules | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_exit_codes_are_documented():
    """The page about the command lists each exit code with its meaning."""
    page = (ROOT / "docs" / "cli.md").read_text()
    documented = {int(number) for number in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert {int(code) for code in ExitCode} | {0} == documented


def test_every_command_is_documented():
    """The page about the command has a section for each subcommand."""
    page = (ROOT / "docs" / "cli.md").read_text()
    assert [name for name in COMMANDS if f"toolerrors {name}" not in page] == []
