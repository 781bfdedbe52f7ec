"""One round of the demo: all tasks, under one policy and one seed, into a folder of traces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from random import Random
from time import time_ns
from typing import Any

import httpx
import opentelemetry.sdk.trace as sdk
from opentelemetry.trace import NoOpTracerProvider, TracerProvider

from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.policy import Policy
from otel_toolerrors.surface import Catalog, load_catalog
from otel_toolerrors.telemetry import configure
from otel_toolerrors.vocabulary.words import DropReason

from .agent import Agent, Diary, tasks
from .plan import Plan
from .server import FaultServer, Ledger
from .tools import TIMEOUT, Http, register
from .virtual_spans import SeededIds, VirtualSpans
from .virtual_time import Timeline, Wire, run


@dataclass(frozen=True, slots=True)
class Case:
    """What one round differs in."""

    policy: Policy
    seed: int
    traces: Path
    """The folder for its traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What is known after a round besides its traces."""

    case: Case
    tasks: int
    diary: Diary
    ledger: Ledger
    struck: dict[str, int]
    """How often each planned fault struck."""
    seconds: float
    """Simulated seconds it took."""
    dropped: dict[DropReason, int]
    """Spans that were lost on the way to the files, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What rounds have in common."""

    plan: Plan
    tasks: int = 300
    catalog: Catalog | None = None


def demo_catalog() -> Catalog:
    """Read the demo's suggestions, ahead of the default ones."""
    with as_file(files(__package__).joinpath("catalog.toml")) as path:
        return load_catalog(path)


def play(setting: Setting, case: Case, *, epoch_ns: int | None = None) -> Round:
    """Play one round. The same arguments take the same course; it begins at ``epoch_ns`` since 1970, or now.

    At a whole second, so that the differences between its times are rounded the same way on every day.
    """
    begin = time_ns() if epoch_ns is None else epoch_ns
    return run(lambda timeline, wire: _play(setting, case, timeline, wire), epoch_ns=begin - begin % _SECOND)


_SECOND = 1_000_000_000


async def _play(setting: Setting, case: Case, timeline: Timeline, wire: Wire) -> Round:
    with _files_only(), configure("order-desk", traces_dir=case.traces, set_global=False) as telemetry:
        layer = RecoveryLayer(
            case.policy,
            catalog=setting.catalog,
            tracer_provider=VirtualSpans(_with_ids(telemetry.tracer_provider, case.seed), timeline),
            clock=lambda: timeline.now,
            random=Random(f"{case.seed} layer"),  # noqa: S311 - chance that a seed repeats, nothing secret
        )
        async with (
            FaultServer(setting.plan, case.seed, timeline, wire) as server,
            httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client,
        ):
            register(layer, Http(client, server.url, wire))
            agent = Agent(layer, tasks(setting.tasks, case.seed), case.seed)
            await agent.run()
            seconds = timeline.now
        telemetry.flush()
    return Round(
        case=case, tasks=setting.tasks, diary=agent.diary, ledger=server.ledger, struck=server.weather.struck,
        seconds=seconds, dropped=telemetry.dropped,
    )  # fmt: skip


def _with_ids(provider: TracerProvider | None, seed: int) -> TracerProvider:
    if not isinstance(provider, sdk.TracerProvider):
        return NoOpTracerProvider()
    ids: Any = SeededIds(Random(f"{seed} ids"))  # noqa: S311 - as above
    provider.id_generator = ids  # the SDK's annotation names its default class; it asks for the two methods
    return provider


@contextmanager
def _files_only() -> Iterator[None]:
    """Keep the telemetry of the demo on this machine, whatever the environment says about endpoints."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OTEL_")}
    try:
        yield
    finally:
        os.environ.update(kept)
