"""The last good results of reads, to stand in when the tool fails."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from .locks import new_lock


@dataclass(frozen=True, slots=True)
class Recalled:
    """A value from before."""

    value: Any
    age: float


class ResultCache:
    """Results by call digest, least recently kept ones dropped first; safe under threads. Time is passed in.

    Entries outlive their freshness on purpose: how old is too old is asked when one is needed.
    """

    __slots__ = ("_kept", "_lock", "_size")

    def __init__(self, size: int = 1024) -> None:
        self._size = size
        self._kept: OrderedDict[str, tuple[float, Any]] = OrderedDict()
        self._lock = new_lock()

    def keep(self, digest: str, value: Any, now: float) -> None:
        """Remember a good result."""
        with self._lock:
            self._kept[digest] = (now, value)
            self._kept.move_to_end(digest)
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def recall(self, digest: str, ttl: float, now: float) -> Recalled | None:
        """Find a result that is at most ``ttl`` seconds old."""
        with self._lock:
            kept = self._kept.get(digest)
        if kept is None or now - kept[0] > ttl:
            return None
        return Recalled(kept[1], now - kept[0])
