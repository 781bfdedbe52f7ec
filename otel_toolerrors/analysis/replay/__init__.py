"""Recorded calls, run through the production engine under another policy, in virtual time."""

from __future__ import annotations

from .clockwork import Answer, Job, run
from .measures import Measures, Replayed
from .outages import Outages
from .recorded import Recording, record
from .replay import measure, replay, replay_recording

__all__ = [
    "Answer",
    "Job",
    "Measures",
    "Outages",
    "Recording",
    "Replayed",
    "measure",
    "record",
    "replay",
    "replay_recording",
    "run",
]
