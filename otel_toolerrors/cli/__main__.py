"""``python -m otel_toolerrors.cli``."""

from __future__ import annotations

from . import main

main()
