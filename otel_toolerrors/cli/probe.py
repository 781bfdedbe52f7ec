"""One call that fails once and then works, sent on the road that the environment names."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import otel_toolerrors as te

_PATIENCE = 5.0
"""Seconds for the telemetry to be taken."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of the call's telemetry."""

    destination: str
    events: int = 0
    problem: str = ""


def probe() -> Sent:
    """Make the call with telemetry of its own, and see whether it arrives."""
    events = 0

    def count(_event: object) -> None:
        nonlocal events
        events += 1

    with tempfile.TemporaryDirectory() as folder:
        try:
            telemetry = te.configure("toolerrors-doctor", traces_dir=folder, set_global=False)
        except (ImportError, ValueError) as error:
            return Sent("nowhere", problem=str(error))
        with telemetry:
            layer = te.RecoveryLayer(tracer_provider=telemetry.tracer_provider, sleep=_at_once, on_event=count)
            layer.tool(name="probe", effects="read")(_Flaky())
            with layer.run(agent="doctor") as run:
                run.call("probe")
            taken = telemetry.flush(_PATIENCE)
        if telemetry.destination != folder:
            lost = ", ".join(f"{number} {reason}" for reason, number in telemetry.dropped.items())
            problem = f"the exporter {telemetry.destination} did not take it: {lost or 'no answer in time'}"
            return Sent(telemetry.destination, events, "" if taken and not lost else problem)
        names = {span["name"].split()[0] for span in _written(Path(folder))}
    missing = sorted({"invoke_agent", "execute_tool", "attempt"} - names)
    return Sent("a trace file", events, f"no span {', '.join(missing)} was written" if missing else "")


class _Flaky:
    """A tool that works when it is called again."""

    def __init__(self) -> None:
        self._called = False

    def __call__(self) -> str:
        if not self._called:
            self._called = True
            raise ConnectionResetError("a test by toolerrors doctor")
        return "well"


def _at_once(_seconds: float) -> None:
    """Do not wait."""


def _written(folder: Path) -> Iterator[dict[str, Any]]:
    for path in folder.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            for resource in json.loads(line)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    yield from scope["spans"]
