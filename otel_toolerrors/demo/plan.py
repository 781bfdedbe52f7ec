"""The fault plan: what the demo's server does wrong, when, and to whom."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.resources import files
from random import Random
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Span = tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
"""Least and most, in seconds."""

HORIZON = 24 * 3600.0
"""Simulated seconds for which windows are laid out."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Windows(_Entry):
    """Times at which something lasts for a while."""

    every: Annotated[float, Field(gt=0)]
    """From one beginning to the next, on average."""
    lasts: Span

    def laid_out(self, random: Random) -> list[tuple[float, float]]:
        """Beginnings and ends, until `HORIZON`."""
        windows, start = [], random.uniform(0.2, 0.8) * self.every
        while start < HORIZON:
            windows.append((start, start + random.uniform(*self.lasts)))
            start += random.uniform(0.5, 1.5) * self.every
        return windows


class Service(_Entry):
    """One service: a port of its own."""

    name: str
    latency: Span
    outages: Windows | None = None


class Fault(_Entry):
    """One way in which requests go wrong."""

    name: str
    service: str
    method: str | None = None
    path: str = "*"
    """Pattern with ``*``."""
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Of the different requests, how many it strikes."""
    times: Annotated[int, Field(ge=1)] | None = None
    """How often it strikes the same request."""
    lasts: Span | None = None
    every: Annotated[float, Field(gt=0)] | None = None
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    reset: bool = False
    silence: bool = False
    committed: bool = False
    headers: dict[str, str] = {}
    body: str = "{}"

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.status is not None) + self.reset + self.silence != 1:
            raise ValueError(f"fault {self.name!r}: say one of status, reset and silence")
        if self.every is not None and self.lasts is None:
            raise ValueError(f"fault {self.name!r}: every needs lasts")
        return self


class Plan(_Entry):
    """All services and their faults; of several faults that would strike, the first one does."""

    service: tuple[Service, ...]
    fault: tuple[Fault, ...] = ()

    def healthy(self) -> Plan:
        """The same services, with nothing wrong."""
        well = tuple(service.model_copy(update={"outages": None}) for service in self.service)
        return Plan(service=well)


def default_plan() -> Plan:
    """Read the plan that the demo ships."""
    return Plan.model_validate(tomllib.loads(files(__package__).joinpath("plan.toml").read_text(encoding="utf-8")))


class Request(BaseModel):
    """What the plan needs to know about a request."""

    model_config = ConfigDict(frozen=True)

    service: str
    method: str
    path: str
    content: str = ""

    @cached_property
    def identity(self) -> str:
        """The same for a request that is made again."""
        return f"{self.service} {self.method} {self.path} {self.content}"


class Weather:
    """A plan under one seed. Who is struck depends on what is asked and when, never on the order of requests."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self._plan = plan
        self._seed = seed
        self._windows = {
            fault.name: Windows(every=fault.every, lasts=fault.lasts).laid_out(self._draw(fault.name))
            for fault in plan.fault
            if fault.every is not None and fault.lasts is not None
        }
        self._first: dict[tuple[str, str], float] = {}
        self._times: dict[tuple[str, str], int] = {}
        self.struck: dict[str, int] = {}
        """How often each fault has struck, by its name."""

    def latency(self, request: Request, service: Service, times: int) -> float:
        """Seconds the service thinks about a request that it sees for the ``times``-th time."""
        return self._draw("latency", request.identity, times).uniform(*service.latency)

    def outages(self, service: Service) -> list[tuple[float, float]]:
        """When nobody listens."""
        return service.outages.laid_out(self._draw("outages", service.name)) if service.outages else []

    def strike(self, request: Request, now: float) -> Fault | None:
        """The fault that strikes this request, if one does."""
        for fault in self._plan.fault:
            if self._aims_at(fault, request) and self._strikes(fault, request, now):
                self.struck[fault.name] = self.struck.get(fault.name, 0) + 1
                return fault
        return None

    @staticmethod
    def _aims_at(fault: Fault, request: Request) -> bool:
        same = fault.service == request.service and fault.method in (None, request.method)
        return same and fnmatchcase(request.path, fault.path)

    def _strikes(self, fault: Fault, request: Request, now: float) -> bool:
        if fault.name in self._windows:
            return any(start <= now < end for start, end in self._windows[fault.name])
        draw = self._draw(fault.name, request.identity)
        if draw.uniform(0, 1) >= fault.share:
            return False
        key = fault.name, request.identity
        first = self._first.setdefault(key, now)
        times = self._times[key] = self._times.get(key, 0) + 1
        in_number = fault.times is None or times <= fault.times
        return in_number and (fault.lasts is None or now < first + draw.uniform(*fault.lasts))

    def _draw(self, *what: object) -> Random:
        return Random(f"{self._seed} {what}")  # noqa: S311 - chance that a seed repeats, nothing secret
