"""The policy file on disk, noticed when it changes."""

from __future__ import annotations

import logging
from pathlib import Path

from otel_toolerrors.policy import Policy, PolicyError, load_policy

_log = logging.getLogger("otel_toolerrors")


class PolicyFile:
    """Watches a policy file by its size and time of change: one look-up a run."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._seen: tuple[int, int] | None = None

    def load(self) -> Policy:
        """Read the file.

        Raises:
            PolicyError: It cannot be used.
        """
        self._seen = self._state()
        return load_policy(self._path)

    def changed(self) -> Policy | None:
        """Read the file again if it has changed; None if not, or if what it says now cannot be used."""
        state = self._state()
        if state is None or state == self._seen:
            return None
        self._seen = state
        try:
            return load_policy(self._path)
        except PolicyError as error:
            _log.error("the policy stays as it was, because its file cannot be used:\n%s", error)
            return None

    def _state(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except OSError:  # being replaced, or gone: the policy in force stays
            return None
        return status.st_mtime_ns, status.st_size
