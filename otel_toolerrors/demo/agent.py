"""A scripted agent. No language model is involved: it follows a list of steps, and reacts to errors as models do.

It reads what it is shown: it follows a hint that names a tool, and it is stubborn about
what is not found.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from otel_toolerrors.layer import RecoveryLayer, Run
from otel_toolerrors.surface import Outcome

WORKERS = 4
"""Tasks under way at the same time."""
_STUBBORN = 2
"""How often the agent asks again for what was not found."""
_ADVICE = re.compile(r"\buse (\w+_\w+)")


@dataclass(frozen=True, slots=True)
class Step:
    """One call that a task needs."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """What the agent is asked to do: its steps, in order."""

    name: str
    steps: tuple[Step, ...]


@dataclass(slots=True)
class Diary:
    """What became of the tasks."""

    finished: int = 0
    stopped: dict[str, int] = field(default_factory=dict)
    """Runs that the layer stopped, by reason."""

    def note(self, run: Run, *, done: bool) -> None:
        """Note how a task ended."""
        if run.stopped is not None:
            self.stopped[run.stopped.reason] = self.stopped.get(run.stopped.reason, 0) + 1
        elif done:
            self.finished += 1


def tasks(number: int, seed: int) -> list[Task]:
    """Draw the tasks: of each kind always as many, in an order and with ids that depend on the seed."""
    kinds = [kind for kind, (_, share) in _KINDS.items() for _ in range(share)]
    drawn = [kinds[place % len(kinds)] for place in range(number)]
    Random(f"{seed} order").shuffle(drawn)  # noqa: S311 - chance that a seed repeats, nothing secret
    return [Task(f"{kind}-{place}", tuple(_KINDS[kind][0](f"{seed}{place:04}"))) for place, kind in enumerate(drawn)]


def _answer(number: str) -> Iterator[Step]:
    yield Step("search_orders", {"customer": f"C-{number}"})
    yield Step("get_order", {"order": f"ORD-{number}"})
    yield Step("shipping_eta", {"order": f"ORD-{number}"})


def _mistaken(number: str) -> Iterator[Step]:
    yield Step("get_order", {"order": f"ORD-X{number}"})
    yield Step("search_orders", {"customer": f"C-{number}"})


def _complain(number: str) -> Iterator[Step]:
    yield Step("search_orders", {"customer": f"C-{number}"})
    yield Step("list_issues", {"topic": f"T-{number}"})
    yield Step("create_ticket", {"reference": f"REF-{number}", "title": "parcel is late"})


def _quote(number: str) -> Iterator[Step]:
    yield Step("search_orders", {"customer": f"C-{number}"})
    for item in "abc":
        yield Step("price_quote", {"sku": f"S-{number}{item}"})


def _invoice(number: str) -> Iterator[Step]:
    yield Step("get_order", {"order": f"ORD-{number}"})
    yield Step("create_invoice", {"order": f"ORD-{number}", "amount": 1999})
    yield Step("get_invoice", {"order": f"ORD-{number}"})


def _report(number: str) -> Iterator[Step]:
    for template in ("daily", "weekly", "monthly"):
        yield Step("render_report", {"template": template, "order": f"ORD-{number}"})


def _legacy(number: str) -> Iterator[Step]:
    yield from _report(number)
    yield Step("render_report", {"template": "legacy-7", "order": f"ORD-{number}"})


_KINDS = {
    "answer": (_answer, 5),
    "quote": (_quote, 2),
    "complain": (_complain, 3),
    "invoice": (_invoice, 3),
    "report": (_report, 4),
    "legacy": (_legacy, 2),
    "mistaken": (_mistaken, 1),
}
"""The kinds of tasks, and how many of each there are in twenty."""


class Agent:
    """Works through tasks, several at a time."""

    def __init__(self, layer: RecoveryLayer, work: list[Task], seed: int) -> None:
        self.diary = Diary()
        self._layer = layer
        self._work = iter(work)
        self._seed = seed

    async def run(self) -> None:
        """Do all tasks."""
        await asyncio.gather(*(self._worker(number) for number in range(WORKERS)))

    async def _worker(self, number: int) -> None:
        await asyncio.sleep(number * 0.37)
        for task in self._work:
            await self._do(task)

    async def _do(self, task: Task) -> None:
        mind = Random(f"{self._seed} {task.name}")  # noqa: S311 - as above
        async with self._layer.run(agent="order-desk", conversation=task.name) as run:
            done = True
            for step in task.steps:
                done = await self._step(run, step, mind) and done
                if run.stopped is not None:
                    break
            self.diary.note(run, done=done)

    async def _step(self, run: Run, step: Step, mind: Random) -> bool:
        """Do a step by all means that come to mind; true if that worked, or the layer said to go on without."""
        outcome = await self._call(run, step, mind)
        if outcome.kind == "degraded":
            return True
        for turn in range(_STUBBORN):
            if outcome.ok or run.stopped is not None or outcome.fault is None:
                break
            if outcome.fault.category != "not_found":
                break
            if turn == 0:
                await self._follow_advice(run, step, outcome, mind)
            outcome = await self._call(run, step, mind)
        return outcome.ok

    async def _follow_advice(self, run: Run, step: Step, outcome: Outcome, mind: Random) -> None:
        for tool in _ADVICE.findall(outcome.text):
            if run.stopped is None:
                await self._call(run, Step(tool, step.arguments), mind)

    async def _call(self, run: Run, step: Step, mind: Random) -> Outcome:
        await asyncio.sleep(mind.uniform(1.0, 9.0))  # thinking
        return await run.acall(step.tool, step.arguments)
