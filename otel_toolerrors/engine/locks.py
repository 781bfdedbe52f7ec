"""Locks that survive a fork."""

from __future__ import annotations

import os
from threading import Lock
from weakref import WeakSet

_locks: WeakSet[Lock] = WeakSet()


def new_lock() -> Lock:
    """Make a lock that a forked child finds open: in the child, the thread that held it does not exist.

    For what outlives a run and is shared by threads. What the lock guards is a count or two, which that thread may
    have left half an update behind.
    """
    lock = Lock()
    _locks.add(lock)
    return lock


def _open_all() -> None:
    for lock in _locks:
        # Not release(): a thread that was just getting the lock holds it before locked() says so. The library's own
        # locks are opened like this, too.
        lock._at_fork_reinit()  # type: ignore[attr-defined]  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
