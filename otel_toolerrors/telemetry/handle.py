"""What `configure` hands out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Any, Final, Protocol, Self

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from otel_toolerrors.vocabulary.words import DropReason

from .guard import log
from .outbox import Drops

SHUTDOWN_TIMEOUT: Final = 5.0
"""Seconds that the end of telemetry may take. An exporter whose collector is gone tries for ten by itself."""
_GRACE: Final = 1.0
"""Seconds for an exporter to return from what it was doing when it is told to stop."""


class Part(Protocol):
    """A processor or provider of the SDK that we made, and end."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Deliver what waits."""

    def shutdown(self) -> None:
        """Deliver what waits, and stop."""


class Stoppable(Protocol):
    """An exporter, which gives up what it is trying when it is shut down."""

    def shutdown(self) -> None:
        """Stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """What `configure` set up."""

    destination: str
    """The exporters' names, the folder of the trace files, or ``disabled``."""
    tracer_provider: TracerProvider | None = None
    meter_provider: MeterProvider | None = None
    logger_provider: LoggerProvider | None = None
    _drops: Drops = field(default_factory=Drops, repr=False)
    _processors: tuple[Part, ...] = field(default=(), repr=False)
    _providers: tuple[Part, ...] = field(default=(), repr=False)
    _exporters: tuple[Stoppable, ...] = field(default=(), repr=False)
    _ended: Event = field(default_factory=Event, repr=False, compare=False)

    @property
    def dropped(self) -> dict[DropReason, int]:
        """How many spans and log records were lost rather than delay the agent, by reason."""
        return self._drops.by_reason()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait at most ``timeout`` seconds for the destinations to take what has ended; say whether all did."""
        parts = (*self._processors, *self._providers)
        answers = _within(timeout, [partial(part.force_flush, int(timeout * 1000)) for part in parts])
        return len(answers) == len(parts) and all(answers)

    def shutdown(self, timeout: float = SHUTDOWN_TIMEOUT) -> bool:
        """Deliver what has ended, then stop; after ``timeout`` seconds stop without. Say whether there was time.

        What is lost is counted, which takes up to two seconds more. Happens at the interpreter's exit if it is not
        called.
        """
        if self._ended.is_set():
            return True
        self._ended.set()
        began = monotonic()
        spans_in_time = self._end(self._processors, timeout)
        # The metrics come last: they say what was lost.
        return self._end(self._providers, max(timeout - (monotonic() - began), _GRACE)) and spans_in_time

    def retire(self) -> None:
        """Stop delivering, for a later `configure`. The providers stay: they are global, and cannot be replaced."""
        self._end(self._processors, SHUTDOWN_TIMEOUT)

    def _end(self, parts: tuple[Part, ...], timeout: float) -> bool:
        ends = [_begun(part.shutdown) for part in parts]
        in_time = not wait(ends, timeout).not_done
        if not in_time:
            log.warning("telemetry was not delivered within %g s", timeout)
            _within(_GRACE, [exporter.shutdown for exporter in self._exporters])
            wait(ends, _GRACE)  # told to stop, they return and count what they lose
        return in_time

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.shutdown()


def _within(timeout: float, actions: Iterable[Callable[[], Any]]) -> list[Any]:
    """Do all at the same time; give what those returned that ended well within ``timeout`` seconds."""
    done = wait([_begun(action) for action in actions], timeout).done
    return [one.result() for one in done if one.exception() is None]


def _begun(action: Callable[[], Any]) -> Future[Any]:
    """Do it in a thread of its own, which nobody has to wait for: neither an exporter nor a disk can be interrupted."""
    result: Future[Any] = Future()

    def act() -> None:
        try:
            result.set_result(action())
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            result.set_exception(error)

    try:
        Thread(target=act, name="toolerrors-telemetry-end", daemon=True).start()
    except RuntimeError:  # Python 3.12 and later start no thread while the interpreter exits
        act()
    return result
