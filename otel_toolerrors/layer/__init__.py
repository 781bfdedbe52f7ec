"""The front door: `RecoveryLayer` and `Run`."""

from __future__ import annotations

from .layer import Permission, RecoveryLayer
from .run import Run, Stopped

__all__ = ["Permission", "RecoveryLayer", "Run", "Stopped"]
