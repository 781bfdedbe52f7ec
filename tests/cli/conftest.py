"""Traces that a real layer wrote, and the command, run in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import otel_toolerrors as te
from otel_toolerrors.cli.app import run
from otel_toolerrors.testing import Script, VirtualClock

HOSTILE = "boom \x1b[2J\x1b]0;owned\x07 \u202egnp.exe"
"""An error text that clears the screen, renames the window and turns its own direction."""


@dataclass(frozen=True)
class Said:
    """What the command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run the command with arguments."""

    def call(*arguments: str | Path) -> Said:
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Said(int(code), printed.out, printed.err)

    return call


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of traces: recoveries, and an error whose text is hostile."""
    folder = tmp_path_factory.mktemp("cli") / "traces"
    clock = VirtualClock()
    with te.configure("cli-tests", traces_dir=folder, set_global=False) as telemetry:
        layer = te.RecoveryLayer(clock=clock, sleep=clock.sleep, tracer_provider=telemetry.tracer_provider)
        layer.tool(name="search", effects="read")(Script(ConnectionResetError("reset"), ["hit"]))
        layer.tool(name="read_file", effects="read")(Script(FileNotFoundError(2, HOSTILE)))
        for _ in range(3):
            with layer.run(agent="tester") as agent_run:
                agent_run.call("search", {"query": "x"})
                agent_run.call("read_file", {"path": "y"})
    return folder


@pytest.fixture
def traces(recorded: Path, tmp_path: Path) -> Path:
    """A copy of them, to damage."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for file in recorded.glob("*.jsonl"):
        (folder / file.name).write_bytes(file.read_bytes())
    return folder
