"""What was worked out about foreign texts, for when they come again: an outage says one thing thousands of times."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V]):
    """A dictionary that forgets everything when it is full, since foreign texts must not pile up."""

    __slots__ = ("room",)

    def __init__(self, room: int) -> None:
        """Have room for so many keys."""
        super().__init__()
        self.room = room

    def keep(self, key: K, value: V) -> V:
        """Store a value, and give it."""
        if len(self) >= self.room:
            self.clear()
        self[key] = value
        return value
