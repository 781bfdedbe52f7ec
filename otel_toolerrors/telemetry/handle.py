"""What `configure` hands out."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from otel_toolerrors.vocabulary.words import DropReason

from .outbox import Drops


class Part(Protocol):
    """A processor or provider of the SDK that we made, and end."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Deliver what waits."""

    def shutdown(self) -> None:
        """Deliver what waits, and stop."""


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

    @property
    def dropped(self) -> dict[DropReason, int]:
        """How many spans and log records were lost rather than delay the agent, by reason."""
        return self._drops.by_reason()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait at most ``timeout`` seconds for each destination to take what has ended; say whether all did."""
        delivered = [part.force_flush(int(timeout * 1000)) for part in (*self._processors, *self._providers)]
        return all(delivered)

    def shutdown(self) -> None:
        """Deliver what has ended, then stop. Happens at the interpreter's exit if it is not called."""
        for part in (*self._processors, *self._providers):
            part.shutdown()

    def retire(self) -> None:
        """Stop delivering, for a later `configure`. The providers stay: they are global, and cannot be replaced."""
        for part in self._processors:
            part.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.shutdown()
