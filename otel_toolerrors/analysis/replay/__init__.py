"""Recorded calls, run through the production engine under another policy, in virtual time."""

from __future__ import annotations

from .clockwork import Answer, Job, run
from .measures import Measures, Replayed, mean_of
from .recorded import RecordedCall, Recording, record
from .replay import Replayer, replay

__all__ = [
    "Answer",
    "Job",
    "Measures",
    "RecordedCall",
    "Recording",
    "Replayed",
    "Replayer",
    "mean_of",
    "record",
    "replay",
    "run",
]
