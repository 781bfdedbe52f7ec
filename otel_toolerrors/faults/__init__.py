"""What happened: an exception or an in-band error becomes a `Fault`."""

from __future__ import annotations

from .fault import Fault, Signal, Strength, Verdict

__all__ = ["Fault", "Signal", "Strength", "Verdict"]
