"""What is waiting to be written: a bounded queue and the one thread that empties it."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import parent_process
from multiprocessing.util import Finalize
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final, Generic, Protocol, TypeVar
from weakref import WeakMethod

from opentelemetry import context as otel_context

from otel_toolerrors.engine.locks import new_lock
from otel_toolerrors.vocabulary.words import DropReason

from .context import without_telemetry
from .guard import log

T = TypeVar("T")

CAPACITY: Final = 8_192
"""Items that may wait; more are dropped, and counted."""
LINGER: Final = 0.05
"""Seconds between two writes under load. The first item after a pause is written at once."""
RETRY_AFTER: Final = 0.5
"""Seconds until a failed write is tried again."""
EXIT_TIMEOUT: Final = 2.0
"""Seconds that the end of a process may wait for the disk."""

_BATCH: Final = 512


class Lines(Protocol):
    """Where lines are written."""

    def append(self, line: bytes) -> None:
        """Write a line, or raise OSError and write nothing."""

    def close(self) -> None:
        """Finish."""

    def forget(self) -> None:
        """Let go without finishing: this process is a fork."""


class Drops:
    """Counts what was lost, by reason."""

    def __init__(self, notify: Callable[[DropReason, int], None] | None = None) -> None:
        self._counts: Counter[DropReason] = Counter()
        self._notify = notify
        self._lock = new_lock()

    def count(self, reason: DropReason, items: int = 1) -> None:
        """``items`` were lost because of ``reason``."""
        with self._lock:
            self._counts[reason] += items
        if self._notify is not None:
            self._notify(reason, items)

    def by_reason(self) -> dict[DropReason, int]:
        """What was lost so far."""
        with self._lock:
            return dict(self._counts)


class Outbox(Generic[T]):
    """Takes items from the agent's threads without delay, and writes them from its own.

    Nothing here waits for the disk but that thread. When it cannot keep up, or the
    disk refuses, items wait; when `CAPACITY` of them wait, new ones are dropped.
    """

    def __init__(
        self,
        encode: Callable[[Sequence[T]], bytes],
        lines: Lines,
        drops: Drops,
        *,
        capacity: int = CAPACITY,
        linger: float = LINGER,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._encode = encode
        self._lines = lines
        self._drops = drops
        self._capacity = capacity
        self._linger = linger
        self._clock = clock
        self._failing = False
        self._closed = False
        self._reset()
        in_forked_children(self._after_fork)

    def put(self, item: T) -> None:
        """Hand over ``item``. Never blocks and never raises."""
        if self._closed or len(self._queue) >= self._capacity:
            self._drops.count("closed" if self._closed else "queue_full")
            return
        self._queue.append(item)
        if self._thread is None:
            self._start()
        if not self._work.is_set():
            self._work.set()

    def hurry(self) -> None:
        """Write what is waiting now, not a moment later. Does not wait for it."""
        self._now.set()

    def flush(self, timeout: float) -> bool:
        """Wait at most ``timeout`` seconds until everything handed over so far is written; say whether it is."""
        if self._thread is None or not self._thread.is_alive():
            return self._drain()
        done = Event()
        self._waiting.append(done)
        self._now.set()
        self._work.set()
        return done.wait(timeout) and not self._failing

    def close(self, timeout: float) -> bool:
        """Flush, stop the thread and finish the file. What could not be written is counted as dropped."""
        if self._closed:
            return True
        written = self.flush(timeout)
        self._closed = True
        self._now.set()
        self._work.set()
        if self._thread is not None:
            self._thread.join(timeout)
        if self._thread is None or not self._thread.is_alive():
            self._lines.close()
        left = len(self._queue) + self._stuck_items
        if left:
            self._drops.count("shutdown", left)
        return written

    def _reset(self) -> None:
        self._queue: deque[T] = deque()
        self._waiting: deque[Event] = deque()
        self._work = Event()
        self._now = Event()
        self._starting = Lock()
        self._thread: Thread | None = None
        self._stuck: bytes | None = None
        self._stuck_items = 0

    def _after_fork(self) -> None:
        """What waited belongs to the parent, and so do its thread and its file."""
        self._reset()
        self._lines.forget()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                thread = Thread(target=self._run, name="toolerrors-telemetry", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the interpreter is shutting down; close() will write what is left
                    return
                self._thread = thread
                # A multiprocessing child leaves without running exit handlers, except its own kind.
                if parent_process() is not None:
                    Finalize(None, self.flush, args=(EXIT_TIMEOUT,), exitpriority=0)

    def _run(self) -> None:
        # Writing telemetry makes none.
        otel_context.attach(without_telemetry())
        last = self._clock() - self._linger
        while not self._closed:
            self._work.wait()
            pause = RETRY_AFTER if self._failing else self._linger - (self._clock() - last)
            if pause > 0:
                self._now.wait(pause)
            self._now.clear()
            self._work.clear()
            waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not self._drain():
                self._work.set()
            last = self._clock()
            for done in waiting:
                done.set()

    def _drain(self) -> bool:
        """Write everything that waits; False if the disk refuses."""
        while self._stuck is not None or self._queue:
            if self._stuck is None:
                batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
                self._stuck, self._stuck_items = self._encoded(batch)
            if self._stuck is not None and not self._write(self._stuck):
                return False
            self._stuck, self._stuck_items = None, 0
        return True

    def _encoded(self, batch: list[T]) -> tuple[bytes | None, int]:
        """The batch as a line, without the items that cannot be encoded."""
        try:
            return self._encode(batch), len(batch)
        except Exception as error:  # noqa: BLE001 - one strange item must not take the others with it
            if len(batch) == 1:
                log.debug("telemetry not encodable", exc_info=error)
                self._drops.count("not_encodable")
                return None, 0
        good = [(line, items) for item in batch for line, items in [self._encoded([item])] if line is not None]
        return (b"".join(line for line, _ in good), len(good)) if good else (None, 0)

    def _write(self, line: bytes) -> bool:
        try:
            self._lines.append(line)
        except Exception as error:  # noqa: BLE001 - anything else would end the thread, and nobody would know
            if not self._failing:
                why = getattr(error, "strerror", None) or error
                log.warning("telemetry cannot be written, will try again: %s", why)
            self._failing = True
            return False
        if self._failing:
            log.warning("telemetry is written again")
        self._failing = False
        return True


def in_forked_children(method: Callable[[], None]) -> None:
    """Have the bound method called in each forked child, as long as its object lives."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=partial(_call_if_alive, WeakMethod(method)))


def _call_if_alive(method: WeakMethod[Callable[[], None]]) -> None:
    alive = method()
    if alive is not None:
        alive()
