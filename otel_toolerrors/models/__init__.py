"""Recovery of model requests: context overflow, model fallback, and all that tools have."""

from __future__ import annotations

from .fallback import Choice, ModelChooser, is_overload
from .ladder import Request, converse
from .overflow import Overflow, parse_overflow

__all__ = ["Choice", "ModelChooser", "Overflow", "Request", "converse", "is_overload", "parse_overflow"]
