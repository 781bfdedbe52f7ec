"""Simulated fleets of agents, with the causes of ``benchmarks/plants.py`` planted in them.

The tools, the services and the model's choices are simulated; the engine that
decides and the words that the model reads are the real ones, in virtual time. A
fleet is written as the collector's file exporter would write it, so that the
analysis reads it like any other trace.

    python benchmarks/fleet.py OUT.jsonl [--runs N] [--seed N] [--plant NAME ...]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.plants import HINTS, ORDINARY, PLANTS, TOOLS, Plant, Tool, Trouble
from otel_toolerrors.analysis.replay import Answer, run as run_jobs
from otel_toolerrors.engine import (
    Attempt,
    Call,
    Climb,
    Decision,
    Refresh,
    ResultCache,
    RunState,
    Services,
    Surroundings,
    climb,
)  # fmt: skip
from otel_toolerrors.faults import Fault
from otel_toolerrors.policy import Declaration, Policy, ToolRules, resolve
from otel_toolerrors.surface import Catalog, Surfacer, Where, estimate_tokens
from otel_toolerrors.vocabulary import Arm, AttemptSpan, CallSpan, Event, RunSpan, to_attributes

START = 1_790_000_000.0
DAY = 86_400.0


def fleets(*plants: Plant, runs: int = 100, seed: int = 0, **options: Any) -> list[Fleet]:
    """The fleets that show these plants: one, or as many as there are processes and releases."""
    for plant in plants:
        options = {**plant.options, **options}
    made = [
        Fleet(runs=runs, seed=seed + 1000 * number, plants=plants, instance=f"sim-{number}", **options)
        for number in range(max((plant.processes for plant in plants), default=1))
    ]
    if any(plant.new for plant in plants):
        old = tuple(
            replace(plant, troubles=plant.earlier) if plant.new else plant
            for plant in plants
            if plant.earlier or not plant.new
        )
        before = Fleet(runs=runs, seed=seed + 500, plants=old, began=START - DAY, **options)
        made = [before, *(replace(fleet, version="1.1.0", spans=[]) for fleet in made)]
    return made


@dataclass
class Fleet:
    """A simulated fleet; ``spans`` holds what it would have exported."""

    runs: int = 100
    steps: int = 12
    seed: int = 0
    plants: tuple[Plant, ...] = ()
    policy: Policy = field(default_factory=Policy)
    every: float = 20.0
    """Seconds between the starts of two runs."""
    began: float = START
    version: str = "1.0.0"
    service_name: str = "simulated-agent"
    instance: str = "sim-1"
    ordinary: tuple[Trouble, ...] = ORDINARY
    spans: list[tuple[float, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Put the plants in place."""
        for plant in self.plants:
            self.policy = Policy.model_validate(_deep(self.policy.model_dump(exclude_unset=True), plant.policy))
        planted = tuple(trouble for plant in self.plants for trouble in plant.troubles)
        self.random = Random(f"fleet {self.seed}")
        self.troubles = [self._placed(trouble) for trouble in (*planted, *self.ordinary)]
        self.catalog = Catalog(version="sim", suggestion=tuple(h for p in self.plants for h in p.hints) + HINTS)
        self.tools = {tool.name: tool for tool in TOOLS}
        self.services = Services(self.policy)
        self.cache = ResultCache()
        self.met: dict[str, tuple[Trouble, float] | None] = {}

    def _placed(self, trouble: Trouble) -> Trouble:
        """Outages are given as shares of the fleet's whole time."""
        whole = self.runs * self.every
        return replace(
            trouble, outages=tuple((self.began + a * whole, self.began + b * whole) for a, b in trouble.outages)
        )

    def simulate(self) -> Fleet:
        """Run it."""
        run_jobs(_Run(self, number).first() for number in range(self.runs))
        return self

    def write(self, path: Path) -> Path:
        """Write it as JSON lines, one span a line."""
        resource = {
            "service.name": self.service_name,
            "service.version": self.version,
            "service.instance.id": self.instance,
        }
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in resource.items()]
        scope = {"name": "otel_toolerrors", "version": "0.1.0"}
        with path.open("a", encoding="utf-8") as file:
            for _, span in sorted(self.spans, key=lambda pair: pair[0]):
                request = {"resource": {"attributes": attributes}, "scopeSpans": [{"scope": scope, "spans": [span]}]}
                file.write(json.dumps({"resourceSpans": [request]}, separators=(",", ":")) + "\n")
        return path

    def hex(self, digits: int) -> str:
        """An id."""
        return f"{self.random.getrandbits(digits * 4):0{digits}x}"

    def meets(self, tool: Tool, arguments: str, now: float) -> Fault | None:
        """What an attempt with these arguments meets now."""
        for trouble in self.troubles:
            down = trouble.tool == tool.name and any(start <= now < end for start, end in trouble.outages)
            if down and self.random.random() >= trouble.leaks:
                return trouble.look.fault(tool.effects, self.random)
        if arguments not in self.met:
            self.met[arguments] = self._fate(tool, now)
        fate = self.met[arguments]
        if fate is None or now >= fate[1]:
            return None
        return fate[0].look.fault(tool.effects, self.random)

    def _fate(self, tool: Tool, now: float) -> tuple[Trouble, float] | None:
        for trouble in self.troubles:
            if trouble.tool == tool.name and self.random.random() < trouble.share:
                return trouble, now + trouble.heals(self.random) if trouble.heals else float("inf")
        return None

    def trouble(self, tool: str, code: str) -> Trouble | None:
        """The trouble behind a fault."""
        return next((t for t in self.troubles if t.tool == tool and t.look.code == code), None)


class _Run:
    """One run: a chain of calls, each decided by how the last one ended."""

    def __init__(self, fleet: Fleet, number: int) -> None:
        self.fleet = fleet
        self.random = Random(f"run {fleet.seed} {number}")
        self.id, self.trace, self.span = fleet.hex(16), fleet.hex(32), fleet.hex(16)
        self.began = fleet.began + number * fleet.every
        self.arm: Arm = "bare" if self.random.random() < fleet.policy.surface.held_out else "context"
        self.state = RunState(fleet.policy.run)
        self.surfacer = Surfacer(
            fleet.policy.surface, fleet.catalog, self.arm, self.state, self.offered, estimate_tokens
        )
        self.index = 0
        self.steps = 0
        self.todo: list[tuple[str, str]] = []

    def offered(self) -> list[str]:
        return sorted(self.fleet.tools)

    def first(self) -> _SimulatedCall:
        return self.next(self.began)

    def next(self, now: float) -> _SimulatedCall:
        """The next call: what is still to do, else a new step."""
        if self.todo:
            name, arguments = self.todo.pop(0)
        else:
            self.steps += 1
            tools = list(self.fleet.tools.values())
            name = self.random.choices(tools, [tool.weight for tool in tools])[0].name
            arguments = self.fleet.hex(16)
        self.index += 1
        return _SimulatedCall(self, self.fleet.tools[name], arguments, now + self.random.uniform(0.5, 3.0))

    def after(self, call: _SimulatedCall, decision: Decision, now: float) -> Iterable[_SimulatedCall]:
        """React to an outcome."""
        if decision.kind in ("surfaced", "degraded") and decision.fault is not None:
            self._react(call, decision.fault)
        if self.state.stopped is None and (self.todo or self.steps < self.fleet.steps):
            return [self.next(now)]
        self._end(now)
        return []

    def _react(self, call: _SimulatedCall, fault: Fault) -> None:
        trouble = self.fleet.trouble(call.tool.name, fault.code)
        if trouble is None or len(self.todo) > 3 or self.index > 3 * self.fleet.steps:
            return
        reactions = trouble.bare if self.arm == "bare" and trouble.bare else trouble.reactions
        kinds, weights = zip(*reactions, strict=True)
        reaction = self.random.choices(kinds, weights)[0]
        fresh, again = (call.tool.name, self.fleet.hex(16)), (call.tool.name, call.arguments)
        if reaction == "repeat":
            self.todo = [again]
        elif reaction == "fix":
            self.todo = [fresh]
        elif reaction == "repair":
            self.todo = [(trouble.repaired_by, self.fleet.hex(16)), again]
            self.fleet.met[call.arguments] = None
        elif reaction == "follow":
            hint = next(h for h in self.fleet.catalog.suggestion if h.applies(call.tool.name, fault) and h.tools)
            self.todo = [(hint.tools[0], self.fleet.hex(16)), again]

    def _end(self, now: float) -> None:
        stop = self.state.stopped
        record = RunSpan(
            operation="invoke_agent", agent="sim", run_id=self.id, source="main_agent", arm=self.arm,
            tools=",".join(self.offered()), policy=self.fleet.policy.digest, catalog="sim",
            stop_reason=stop.reason if stop else None,
        )  # fmt: skip
        self.export("invoke_agent sim", self.span, "", (self.began, now), record)

    def export(
        self, name: str, span: str, parent: str, times: tuple[float, float], record: object, *,
        events: list[dict[str, Any]] | None = None, failed: bool = False,
    ) -> None:  # fmt: skip
        """Export a span of the run."""
        row = {
            "traceId": self.trace, "spanId": span, "parentSpanId": parent, "name": name, "kind": 1,
            "startTimeUnixNano": str(_ns(times[0])), "endTimeUnixNano": str(_ns(times[1])),
            "attributes": attributes_json(record), "events": events or [], "status": {"code": 2} if failed else {},
        }  # fmt: skip
        self.fleet.spans.append((times[1], row))


class _SimulatedCall:
    """One call of the simulated model."""

    def __init__(self, run: _Run, tool: Tool, arguments: str, start: float) -> None:
        self.run, self.tool, self.arguments, self.start = run, tool, arguments, start
        self.index = run.index - 1
        self.span = run.fleet.hex(16)
        self.now = start
        self.rules: ToolRules = self._rules(tool.name)
        self.events: list[dict[str, Any]] = []
        self.attempts: list[tuple[float, float, Fault | None]] = []

    def climb(self) -> Climb:
        fleet = self.run.fleet
        around = Surroundings(self.run.state, fleet.services, self.run.random, self._rules, fleet.cache)
        self.call = Call(
            self.tool.name, {}, rules=self.rules, around=around, now=self.start, emit=self.emit, target=self.arguments
        )
        return climb(self.call)

    def attempt(self, _attempt: Attempt, now: float) -> Answer:
        fault = self.run.fleet.meets(self.tool, self.arguments, now)
        seconds = self.tool.seconds * self.run.random.lognormvariate(0, 0.3)
        self.attempts.append((now, now + seconds, fault))
        self.now = now + seconds
        return Answer(seconds, fault)

    def refresh(self, _refresh: Refresh, _now: float) -> Answer:
        return Answer(0.0)

    def decided(self, decision: Decision, now: float) -> Iterable[_SimulatedCall]:
        self.now = now
        where = Where(None, self.run.id, self.run.trace)
        self.run.surfacer.outcome(decision, self.call, where, None)
        self._export(decision)
        return self.run.after(self, decision, now)

    def emit(self, event: Event) -> None:
        self.events.append(event_json(event, self.now))

    def _rules(self, name: str) -> ToolRules:
        tool = self.run.fleet.tools[name]
        declared = Declaration(effects=tool.effects, service=tool.service)
        return resolve(self.run.fleet.policy, name, declared, "main_agent")

    def _export(self, decision: Decision) -> None:
        run, fault, ok = self.run, decision.fault, decision.kind == "ok"
        if len(self.attempts) > 1 or (self.attempts and self.attempts[0][2] is not None):
            for number, attempt in enumerate(self.attempts, start=1):
                self._export_attempt(number, *attempt)
        record = CallSpan(
            operation="execute_tool", tool=self.tool.name, tool_type="function", agent="sim", run_id=run.id,
            index=self.index, source="main_agent", service=self.rules.service, effects=self.rules.effects,
            arguments=self.arguments, policy=run.fleet.policy.digest,
            outcome="recovered" if ok and fault is not None else decision.kind, attempts=decision.attempts,
            category=fault.category if fault else None, code=fault.code if fault else None,
            side_effects=fault.side_effects if fault and not ok else None,
            error_type=fault.code if fault and not ok else None,
        )  # fmt: skip
        name = f"execute_tool {self.tool.name}"
        run.export(name, self.span, run.span, (self.start, self.now), record, events=self.events, failed=not ok)

    def _export_attempt(self, number: int, start: float, end: float, fault: Fault | None) -> None:
        record = AttemptSpan(
            tool=self.tool.name, attempt=number, category=fault.category if fault else None,
            error_type=fault.code if fault else None,
        )  # fmt: skip
        name = f"attempt {self.tool.name}"
        run = self.run
        run.export(name, run.fleet.hex(16), self.span, (start, end), record, failed=fault is not None)


_TYPES = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}


def attributes_json(record: object) -> list[dict[str, Any]]:
    """A vocabulary record as OTLP attributes; OTLP JSON writes integers as strings."""
    return [
        {"key": key, "value": {_TYPES[type(value)]: str(value) if type(value) is int else value}}
        for key, value in to_attributes(record).items()
    ]


def event_json(event: Event, at: float) -> dict[str, Any]:
    """A span event."""
    return {"timeUnixNano": str(_ns(at)), "name": event.NAME, "attributes": attributes_json(event)}


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _deep(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    return {**below, **{k: _deep(below.get(k, {}), v) if isinstance(v, dict) else v for k, v in above.items()}}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plant", action="append", choices=PLANTS, default=[])
    options = parser.parse_args()
    for fleet in fleets(*(PLANTS[name] for name in options.plant), runs=options.runs, seed=options.seed):
        print(f"{len(fleet.simulate().spans):,} spans in {fleet.write(options.out)}")
