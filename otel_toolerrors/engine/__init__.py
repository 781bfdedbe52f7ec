"""What we do: a sans-IO core that decides, and two thin drivers that act."""

from __future__ import annotations

from .actions import Action, Attempt, Decision, Done, Failed, Refresh, Reply, Sleep, Succeeded
from .backoff import backoff
from .breaker import Rejection, ServiceBreaker
from .budget import RetryBudget
from .cache import ResultCache
from .call import Call
from .driver import AsyncHands, Hands, SyncHands, adrive, amake, drive, make
from .ladder import Climb, climb, fail, foresee
from .observer import Observer, Silence
from .pacing import Pacer
from .reports import classified
from .run import Denials, Failure, RunState, Stop
from .services import Service, Services
from .surroundings import Surroundings

__all__ = [
    "Action",
    "AsyncHands",
    "Attempt",
    "Call",
    "Climb",
    "Decision",
    "Denials",
    "Done",
    "Failed",
    "Failure",
    "Hands",
    "Observer",
    "Pacer",
    "Refresh",
    "Rejection",
    "Reply",
    "ResultCache",
    "RetryBudget",
    "RunState",
    "Service",
    "ServiceBreaker",
    "Services",
    "Silence",
    "Sleep",
    "Stop",
    "Succeeded",
    "Surroundings",
    "SyncHands",
    "adrive",
    "amake",
    "backoff",
    "classified",
    "climb",
    "drive",
    "fail",
    "foresee",
    "make",
]
