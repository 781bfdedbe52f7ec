"""`configure`: send the telemetry somewhere, in one line."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from .handle import Telemetry
from .pipelines import Providers, as_declared, named_exporters, to_exporters, to_files
from .processors import EventsToSpans
from .signals import EventSignal, check_event_signal, set_default_event_signal
from .trace_files import Rotation

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor

TRACES_DIR: Final = ".toolerrors/traces"
"""Where traces go if nobody says otherwise."""


_current: Telemetry | None = None


def configure(
    service_name: str | None = None,
    *,
    traces_dir: str | os.PathLike[str] = TRACES_DIR,
    event_signal: EventSignal = "span",
    rotation: Rotation | None = None,
    resource: Mapping[str, str] | None = None,
    set_global: bool = True,
) -> Telemetry:
    """Set up OpenTelemetry, and return a handle to it.

    Where the environment names an OTLP endpoint or an exporter (``OTEL_EXPORTER_OTLP_*``,
    ``OTEL_TRACES_EXPORTER``), the standard exporters are used as the standard variables
    say. Otherwise traces go into files of JSON lines in ``traces_dir``, in the format of
    the collector's file exporter, for ``toolerrors analyze``. A declarative configuration
    file (``OTEL_CONFIG_FILE``) decides alone where it is given. ``OTEL_SDK_DISABLED``,
    samplers, limits and resource attributes are read from the environment as well.

    Tracing that is already set up is added to, not replaced. A second call ends what the
    first one set up.

    Args:
        service_name: Name of the service; ``OTEL_SERVICE_NAME`` if None.
        traces_dir: Folder for the trace files; made if missing, readable by its owner only.
        event_signal: Send events as span events, as log records, or as both.
        rotation: When a trace file is finished, and what becomes of it.
        resource: More resource attributes.
        set_global: Whether to make the providers the global ones; if not, pass them on from the handle.

    Raises:
        ImportError: The OpenTelemetry SDK, or the exporter that the environment names, is not installed.
        ValueError: An argument or a variable of the environment names what does not exist.
    """
    check_event_signal(event_signal)
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Telemetry(destination="disabled")
    attributes = dict(resource or {}) | ({"service.name": service_name} if service_name is not None else {})
    try:
        providers = Providers.for_service(attributes, set_global=set_global)
    except ImportError as error:
        raise ImportError("configure() needs the OpenTelemetry SDK: pip install 'otel-toolerrors[otlp]'") from error
    logs = event_signal != "span"
    exporters = named_exporters("traces")
    config_file = os.environ.get("OTEL_CONFIG_FILE")
    if config_file and set_global:
        telemetry = as_declared(config_file)
    elif exporters is None:
        telemetry = to_files(providers, Path(traces_dir), rotation or Rotation(), logs=logs)
    else:
        telemetry = to_exporters(providers, exporters, logs=logs)
    if set_global:
        _make_current(telemetry, event_signal)
    return telemetry


def _make_current(telemetry: Telemetry, event_signal: EventSignal) -> None:
    global _current  # noqa: PLW0603 - as global as the providers
    if _current is not None:
        _current.retire()
    else:
        atexit.register(_end_current)  # runs ahead of the providers' own, which may wait for longer
    _current = telemetry
    set_default_event_signal(event_signal)


def _end_current() -> None:
    if _current is not None:
        _current.shutdown()


def bridge_events(logger_provider: LoggerProvider) -> None:
    """Copy every event that goes through ``logger_provider`` onto the span it was emitted in as well.

    For stores that keep no log records, such as Jaeger and Tempo: other libraries'
    events become visible there, and ours with ``event_signal="logs"``.
    """
    logger_provider.add_log_record_processor(cast("LogRecordProcessor", EventsToSpans()))
