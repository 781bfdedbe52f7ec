"""The runs under way, where a framework's hooks know an invocation only by its id."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from otel_toolerrors.engine.locks import new_lock
from otel_toolerrors.layer import Run

_MOST: Final = 1_024


class OpenRuns:
    """Runs by their ids, safe under threads. One that nobody ends is ended after a thousand others have begun."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = new_lock()

    def add(self, run: Run) -> None:
        """Keep a run that has begun."""
        with self._lock:
            self._runs[run.id] = run
            # An invocation that crashed or was never resumed leaves its run behind.
            lost = self._runs.popitem(last=False)[1] if len(self._runs) > _MOST else None
        if lost is not None:
            lost.close()

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, run_id: str) -> Run | None:
        """Find a run."""
        return self._runs.get(run_id)

    def end(self, run_id: str | None) -> Run | None:
        """End a run, and give it; None if it is not here."""
        with self._lock:
            run = self._runs.pop(run_id or "", None)
        if run is not None:
            run.close()
        return run
