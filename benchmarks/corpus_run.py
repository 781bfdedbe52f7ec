"""Real exceptions of many libraries, raised inside tool calls that run through the layer.

    python benchmarks/corpus_run.py CORPUS_DIR [--out DIR]

CORPUS_DIR is a corpus of scenarios: a folder with ``runner.py``, whose ``run_all`` calls a
function with every scenario and what it raised or returned, in worker processes. Run it
with a Python that has the corpus' libraries, this package and its ``otlp`` and ``analysis``
extras. Every outcome is raised again (or returned) in three tools: a read, a write that
declares nothing, and a write with an idempotency key. The layer exports; the traces are
analysed, and the report says what was decided. Time is virtual: no wait is waited.

It fails if a write with an unknown effect and without a key was repeated, if a call raised
anything but control flow, or if a call is missing from the traces.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from opentelemetry.trace import NoOpTracerProvider

import otel_toolerrors as te
from otel_toolerrors import analysis
from otel_toolerrors.demo.virtual_spans import VirtualSpans
from otel_toolerrors.demo.virtual_time import Timeline
from otel_toolerrors.faults import is_control_flow
from otel_toolerrors.vocabulary import Event

_TRACES = "CORPUS_TRACES"
_APART = 3_600.0
"""Virtual seconds between two calls, which have nothing to do with each other."""
_TOOLS = ("read", "write", "keyed_write")


def _decide(scenario: Any, tool: str, outcome: Any, world: _World) -> dict[str, Any]:
    """Call one tool of a layer of its own, so that no breaker remembers; tell what was decided."""
    world.timeline.jump(_APART)
    events = list[Event]()
    layer = te.RecoveryLayer(
        clock=lambda: world.timeline.now, sleep=world.timeline.jump, on_event=events.append, tracer_provider=world.spans
    )

    def again(scenario: str) -> Any:  # noqa: ARG001 - the argument tells calls apart in the traces
        if outcome.exception is not None:
            raise outcome.exception
        return outcome.value

    def keyed(scenario: str, idempotency_key: str) -> Any:  # noqa: ARG001 - the layer fills in the key
        return again(scenario)

    name = f"{scenario.lib}.{tool}"
    declared = {"service": scenario.lib, "in_band": True, "effects": "read" if tool == "read" else "write"}
    layer.tool(name=name, **declared)(keyed if tool == "keyed_write" else again)
    with layer.run(agent="corpus", conversation=scenario.id) as run:
        try:
            made = run.call(name, {"scenario": scenario.id})
        except BaseException as error:  # noqa: BLE001 - what passes through the layer is the question
            return {"kind": "passed_through", "control_flow": is_control_flow(error), "type": type(error).__name__}
    fault = made.fault
    return {
        "kind": made.kind, "attempts": made.attempts, "category": fault.category if fault else None,
        "side_effects": fault.side_effects if fault else None, "events": sorted({event.NAME for event in events}),
    }  # fmt: skip


class _World:
    """Telemetry of one worker process, in virtual time."""

    def __init__(self, folder: str) -> None:
        telemetry = te.configure("corpus", traces_dir=folder, set_global=False)
        # Workers end without the interpreter's usual exit, but run what is registered here.
        atexit.register(telemetry.shutdown)
        self.timeline = Timeline(time.time_ns())
        self.spans = VirtualSpans(telemetry.tracer_provider or NoOpTracerProvider(), self.timeline)


_world: _World | None = None


def observe(scenario: Any, outcome: Any) -> dict[str, Any]:
    """Put one scenario's outcome through the layer; called in the corpus' worker processes."""
    global _world  # noqa: PLW0603 - one for each worker process
    if outcome.kind == "skipped":
        return {"id": scenario.id, "lib": scenario.lib, "kind": "skipped"}
    _world = _world or _World(os.environ[_TRACES])
    decided = {tool: _decide(scenario, tool, outcome, _world) for tool in _TOOLS}
    return {"id": scenario.id, "lib": scenario.lib, "kind": outcome.kind, "decided": decided}


def main() -> int:
    """Run the corpus, analyse the traces, print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, metavar="CORPUS_DIR")
    parser.add_argument("--out", type=Path, help="keep the traces here (a new folder)")
    arguments = parser.parse_args()
    folder = arguments.out or Path(tempfile.mkdtemp(prefix="corpus-"))
    os.environ[_TRACES] = str((folder / "traces").resolve())
    here = Path(__file__).resolve().parent
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH")]))
    sys.path.insert(0, str(arguments.corpus))
    from runner import run_all  # noqa: PLC0415 - the corpus' own module

    records = run_all([str((arguments.corpus / "scenarios").resolve())], "corpus_run:observe")
    return _report(records, folder)


def _report(records: list[dict[str, Any]], folder: Path) -> int:
    ran = [record for record in records if "decided" in record]
    print(f"{len(ran)} scenarios of {len({record['lib'] for record in ran})} libraries ran; {_others(records)}.")
    for tool in _TOOLS:
        kinds = Counter(record["decided"][tool]["kind"] for record in ran)
        repeated = sum(record["decided"][tool].get("attempts", 0) > 1 for record in ran)
        print(f"  {tool:12} {_counted(kinds)}; {repeated} repeated")
    risky = [
        record["id"]
        for record in ran
        if record["decided"]["write"].get("attempts", 0) > 1 and record["decided"]["write"]["side_effects"] != "none"
    ]
    escaped = [
        record["id"]
        for record in ran
        for one in record["decided"].values()
        if one["kind"] == "passed_through" and not one["control_flow"]
    ]
    asked = Counter(name for record in ran for one in record["decided"].values() for name in one.get("events", ()))
    print(f"calls that gave rise to each event: {_counted(dict(asked.most_common()))}")
    print(f"retries of writes with unknown effect and no key: {len(risky)} {risky[:5] or ''}".rstrip())
    print(f"calls that raised, control flow aside: {len(escaped)} {escaped[:5] or ''}".rstrip())
    missing = _analyse(ran, folder)
    return 1 if risky or escaped or missing else 0


def _analyse(ran: list[dict[str, Any]], folder: Path) -> int:
    with analysis.open(folder / "traces") as traces:
        counted = dict(traces.sql("SELECT outcome, count(*) FROM calls GROUP BY ALL ORDER BY ALL").fetchall())
        categories = dict(
            traces.sql(
                "SELECT category, count(*) FROM faults WHERE attempt = 1 GROUP BY ALL ORDER BY 2 DESC"
            ).fetchall()
        )
        risky = traces.sql(_RISKY).fetchall()[0][0]
        findings = traces.findings()
        quarantined = traces.ingested.quarantined
    calls = sum(counted.values())
    print(f"traces: {calls} calls ({_counted(counted)}), {quarantined} quarantined lines, in {folder}")
    print(f"first faults: {_counted(categories)}")
    print(f"the same question, asked of the traces: {risky} unkeyed writes of unknown effect were repeated")
    print(f"{len(findings)} findings")
    for finding in findings:
        print(f"  {finding.severity:6} {finding.kind}: {finding.title} {json.dumps(dict(finding.counts))}")
    return len(ran) * len(_TOOLS) - calls + risky


_RISKY = """
SELECT count(*) FROM calls c JOIN retries r ON r.trace_id = c.trace_id AND r.call_span_id = c.span_id
JOIN faults f ON f.trace_id = r.trace_id AND f.call_span_id = r.call_span_id AND f.attempt = r.attempt
WHERE r.event = 'toolerrors.retry.scheduled' AND c.effects IN ('write', 'destructive')
  AND NOT coalesce(c.keyed, false) AND f.side_effects <> 'none'"""


def _others(records: list[dict[str, Any]]) -> str:
    other = Counter(
        "modules that could not be loaded" if "kind" not in record else f"{record['kind']}"
        for record in records
        if "decided" not in record
    )
    return _counted(other) or "none left out"


def _counted(counts: dict[Any, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


if __name__ == "__main__":
    sys.exit(main())
