"""The two ways out: files of our own, or the standard exporters. Whatever is called here needs the SDK."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from opentelemetry import _logs, metrics, trace

from otel_toolerrors.vocabulary.metrics import TELEMETRY_DROPPED
from otel_toolerrors.vocabulary.words import DropReason

from .handle import Part, Telemetry
from .otlp_json import encode_logs, encode_spans
from .outbox import Drops, Outbox
from .processors import CountedSpanExporter, CountedSpanProcessor, LogsToOutbox, SpansToOutbox
from .signals import SCOPE
from .trace_files import Rotation, TraceFiles

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

_PROTOCOLS: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """Makes the SDK's providers, or takes the global ones that are already there."""

    resource: Resource
    set_global: bool

    @classmethod
    def for_service(cls, attributes: Mapping[str, str], *, set_global: bool) -> Providers:
        """Providers with a resource of ``attributes``, and of what the environment says."""
        from opentelemetry.sdk.resources import Resource

        return cls(resource=Resource.create(attributes), set_global=set_global)

    def tracer(self) -> TracerProvider:
        """The provider that makes our spans."""
        from opentelemetry.sdk.trace import TracerProvider

        current = trace.get_tracer_provider()
        if self.set_global and isinstance(current, TracerProvider):
            return current
        provider = TracerProvider(resource=self.resource)
        if self.set_global:
            trace.set_tracer_provider(provider)
        return provider

    def logger(self) -> LoggerProvider:
        """The provider that makes our log records."""
        from opentelemetry.sdk._logs import LoggerProvider

        current = _logs.get_logger_provider()
        if self.set_global and isinstance(current, LoggerProvider):
            return current
        provider = LoggerProvider(resource=self.resource)
        if self.set_global:
            _logs.set_logger_provider(provider)
        return provider

    def meter(self, exporters: list[str]) -> MeterProvider | None:
        """The provider that makes our metrics; None if nobody wants them, or if there is one already."""
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        if not exporters or (self.set_global and isinstance(metrics.get_meter_provider(), MeterProvider)):
            return None  # no reader can be added to a provider that exists
        readers = [PeriodicExportingMetricReader(_load("metrics", name)) for name in exporters]
        provider = MeterProvider(readers, self.resource)
        if self.set_global:
            metrics.set_meter_provider(provider)
        return provider


def to_files(providers: Providers, folder: Path, rotation: Rotation, *, logs: bool) -> Telemetry:
    """Send spans, and log records if ``logs``, to files of JSON lines in ``folder``."""
    drops = Drops(_count_dropped)
    spans = SpansToOutbox(Outbox(encode_spans, TraceFiles(folder, "traces", rotation), drops))
    parts: list[Part] = [spans]
    tracer_provider = providers.tracer()
    tracer_provider.add_span_processor(cast("SpanProcessor", spans))
    logger_provider = None
    if logs:
        records = LogsToOutbox(Outbox(encode_logs, TraceFiles(folder, "logs", rotation), drops))
        parts.append(records)
        logger_provider = providers.logger()
        logger_provider.add_log_record_processor(cast("LogRecordProcessor", records))
    return Telemetry(
        destination=str(folder),
        tracer_provider=tracer_provider,
        logger_provider=logger_provider,
        _drops=drops,
        _processors=tuple(parts),
    )


def to_exporters(providers: Providers, exporters: list[str], *, logs: bool) -> Telemetry:
    """Send spans to ``exporters``, metrics and log records to those that the environment names for them."""
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    drops = Drops(_count_dropped)
    # What the environment does not say about the other signals, it says with the traces.
    log_exporters, metric_exporters = (
        exporters if (named := named_exporters(signal)) is None else named for signal in ("logs", "metrics")
    )
    counted = [CountedSpanExporter(_load("traces", name), drops) for name in exporters]
    batches = [BatchSpanProcessor(cast("SpanExporter", exporter)) for exporter in counted]
    spans = [CountedSpanProcessor(batch, exporter, drops) for batch, exporter in zip(batches, counted, strict=True)]
    records = [BatchLogRecordProcessor(_load("logs", name)) for name in log_exporters] if logs else []
    tracer_provider = providers.tracer()
    for processor in spans:
        tracer_provider.add_span_processor(cast("SpanProcessor", processor))
    logger_provider = providers.logger() if records else None
    if logger_provider is not None:
        for record_processor in records:
            logger_provider.add_log_record_processor(record_processor)
    meter_provider = providers.meter(metric_exporters)
    _dropped_counter()  # a meter provider that is ending makes none
    return Telemetry(
        destination=",".join(exporters) or "none",
        tracer_provider=tracer_provider,
        meter_provider=meter_provider,
        logger_provider=logger_provider,
        _drops=drops,
        _processors=(*spans, *records),
        _exporters=tuple(counted),
        _providers=(meter_provider,) if meter_provider is not None else (),
    )


def as_declared(config_file: str) -> Telemetry:
    """Let a declarative configuration file set up the SDK, unless a launcher has done so already."""
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider

    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        try:
            from opentelemetry.configuration import configure_sdk, load_config_file  # noqa: PLC0415 - optional
        except ImportError as error:
            raise ImportError("OTEL_CONFIG_FILE is set: pip install opentelemetry-configuration") from error
        configure_sdk(load_config_file(config_file))
    providers = trace.get_tracer_provider(), metrics.get_meter_provider(), _logs.get_logger_provider()
    return Telemetry(
        destination=config_file,
        tracer_provider=providers[0],
        meter_provider=providers[1],
        logger_provider=providers[2],
        _providers=tuple(p for p in providers if isinstance(p, (TracerProvider, MeterProvider, LoggerProvider))),
    )


def named_exporters(signal: str) -> list[str] | None:
    """The exporters that the environment names for ``signal``; None if it names none and no OTLP endpoint either."""
    named = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").strip()
    if named:
        return [name.strip() for name in named.split(",") if name.strip() not in ("", "none")]
    speaks_otlp = any(key.startswith("OTEL_EXPORTER_OTLP_") and value.strip() for key, value in os.environ.items())
    return ["otlp"] if speaks_otlp else None


def _load(signal: str, name: str) -> Any:
    """Make the exporter that is registered as ``name`` under OpenTelemetry's entry points."""
    entry = name
    if name == "otlp":
        specific = f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL"
        protocol = (os.environ.get(specific) or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") or "grpc").strip()
        if protocol not in _PROTOCOLS:
            raise ValueError(f"OTLP protocol {protocol!r} is none of {', '.join(_PROTOCOLS)}")
        entry = _PROTOCOLS[protocol]
    for point in entry_points(group=f"opentelemetry_{signal}_exporter", name=entry):
        return point.load()()
    if name == "otlp":
        raise ImportError("the environment asks for OTLP: pip install 'otel-toolerrors[otlp]'")
    raise ValueError(f"OTEL_{signal.upper()}_EXPORTER names {name!r}, which no installed package provides")


def _count_dropped(reason: DropReason, items: int) -> None:
    _dropped_counter().add(items, dict.fromkeys(TELEMETRY_DROPPED.labels, reason))


@cache
def _dropped_counter() -> metrics.Counter:
    """Made once: losses come in crowds. It counts with whatever meter provider is set, now or later."""
    metric = TELEMETRY_DROPPED
    return metrics.get_meter(SCOPE).create_counter(metric.name, metric.unit, metric.description)
