"""What ``toolerrors doctor`` looks at: each check tells what is there, and how to mend it if it is not well."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from otel_toolerrors.policy import Policy, PolicyError, load_policy
from otel_toolerrors.surface import Catalog, CatalogError, default_catalog, load_catalog
from otel_toolerrors.telemetry.instrumentor import OBSERVERS
from otel_toolerrors.telemetry.pipelines import named_exporters
from otel_toolerrors.vocabulary import EVENTS, AttemptSpan, CallSpan, RunSpan, attributes_of

Level = Literal["ok", "warn", "fail"]

_TIMEOUT = 2.0
"""Seconds for a connection to the exporter's endpoint."""
_FEW_BYTES = 1_000_000_000
"""Free space below which trace files may soon fail to be written."""
_ENOUGH_EVENTS = 32
"""Events of one call that is retried often, with room to spare."""
_ENOUGH_CHARACTERS = 1_000
"""A message or a list of tools that is cut shorter than this may tell too little."""
_RECENT = 200
"""Runs whose tools tell which tools there are."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    level: Level
    told: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What to look at."""

    traces: Path
    policy: Path | None
    catalog: Path | None


def versions(_where: Where) -> Iterator[Check]:
    """Whether the parts that make and read telemetry are there, and fit."""
    yield Check("version", "ok", f"otel-toolerrors {version('otel-toolerrors')} on Python {platform.python_version()}")
    api, sdk = _version("opentelemetry-api"), _version("opentelemetry-sdk")
    if sdk is None:
        fix = "pip install 'otel-toolerrors[otlp]'"
        yield Check("opentelemetry", "fail", f"API {api}, no SDK: nothing is recorded", fix)
    elif sdk != api:
        told = f"API {api} and SDK {sdk} are of two releases"
        yield Check("opentelemetry", "warn", told, f"pip install opentelemetry-sdk=={api}")
    else:
        yield Check("opentelemetry", "ok", f"API and SDK {api}")
    if duckdb := _version("duckdb"):
        yield Check("analysis", "ok", f"DuckDB {duckdb}")
    else:
        fix = "pip install 'otel-toolerrors[analysis]'"
        yield Check("analysis", "warn", "no DuckDB: traces cannot be read back here", fix)


def switches(_where: Where) -> Iterator[Check]:
    """Whether the environment lets spans through at all."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        yield Check("sdk", "fail", "OTEL_SDK_DISABLED is true: nothing is recorded", "unset OTEL_SDK_DISABLED")
    sampler = os.environ.get("OTEL_TRACES_SAMPLER", "parentbased_always_on").strip()
    if sampler.endswith("always_off"):
        yield Check("sampler", "fail", f"{sampler}: no trace is kept", "unset OTEL_TRACES_SAMPLER")
    elif "ratio" in sampler:
        told = f"{sampler} drops traces before anybody knows whether a call fails"
        yield Check("sampler", "warn", told, "keep all here, and sample in the collector: docs/collector.md")
    else:
        yield Check("sampler", "ok", sampler)


def endpoint(_where: Where) -> Iterator[Check]:
    """Whether somebody listens where the environment sends the telemetry."""
    exporters = named_exporters("traces")
    if exporters is None:
        yield Check("exporter", "ok", "the environment names none: configure() writes files")
        return
    if "otlp" not in exporters:
        yield Check(
            "exporter", "ok" if exporters else "warn", f"OTEL_TRACES_EXPORTER: {', '.join(exporters) or 'none'}"
        )
        return
    protocol = _variable("PROTOCOL") or "grpc"
    port = 4317 if protocol == "grpc" else 4318
    address = _variable("ENDPOINT") or f"http://localhost:{port}"
    parts = urlsplit(address if "://" in address else f"//{address}")
    given = parts.port or {"http": 80, "https": 443}.get(parts.scheme, port)
    told = f"OTLP, {protocol}, to {address}"
    try:
        socket.create_connection((parts.hostname or "localhost", given), _TIMEOUT).close()
    except OSError as error:
        yield Check(
            "exporter", "fail", f"{told}: {error}", "start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT"
        )
        return
    if given in (4317, 4318) and given != port:
        fix = "set OTEL_EXPORTER_OTLP_PROTOCOL: grpc for 4317, http/protobuf for 4318"
        yield Check("exporter", "warn", f"{told}: the port is by custom the other protocol's", fix)
    else:
        yield Check("exporter", "ok", f"{told}: somebody listens")


def sink(where: Where) -> Iterator[Check]:
    """Whether trace files could be written; nothing is left behind."""
    folder = where.traces if where.traces.suffix == "" else where.traces.parent
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        fix = f"chmod u+w {there}, or configure(traces_dir=...)"
        yield Check("trace files", "fail", f"{folder}: cannot be written ({error.strerror})", fix)
        return
    free = shutil.disk_usage(there).free
    told = f"{folder}: can be written, {free / 1e9:.0f} GB free"
    level: Level = "ok" if free > _FEW_BYTES else "warn"
    yield Check(
        "trace files", level, told, "" if level == "ok" else "configure(rotation=Rotation(keep=...)), or clear it"
    )


def policy(where: Where) -> Iterator[Check]:
    """Whether the policy file can be used."""
    path = where.policy or _found("toolerrors.toml")
    if path is None:
        yield Check("policy", "ok", f"no file: the fail-closed defaults, {Policy().digest}")
        return
    try:
        loaded = load_policy(path)
    except PolicyError as error:
        yield Check("policy", "fail", str(error), "correct the line named")
        return
    yield Check("policy", "ok", f"{path}: {loaded.digest}")


def catalog(where: Where) -> Iterator[Check]:
    """Whether the suggestions can be read, and name tools that there are."""
    path = where.catalog or _found("toolerrors.catalog.toml")
    try:
        loaded = load_catalog(path) if path else default_catalog()
    except CatalogError as error:
        yield Check("catalog", "fail", str(error), "correct the place named")
        return
    told = f"{path or 'the default one'}: version {loaded.version}, {len(loaded.suggestion)} suggestions"
    yield _fresh(told, loaded, _offered(where.traces) if loaded.stale(()) else None)


def _fresh(told: str, loaded: Catalog, offered: set[str] | None) -> Check:
    if not loaded.stale(()):
        return Check("catalog", "ok", f"{told}; none names a tool")
    if offered is None:
        return Check("catalog", "ok", f"{told}; no recorded run tells which tools there are")
    gone = loaded.stale(offered)
    if not gone:
        return Check("catalog", "ok", f"{told}; all tools that they name were offered lately")
    names = "; ".join(f"{hint} names {', '.join(tools)}" for hint, tools in sorted(gone.items()))
    fix = "mend the hints, or list their ids under `without` in the catalog"
    return Check("catalog", "warn", f"{told}; not offered by any recent run: {names}", fix)


def frameworks(_where: Where) -> Iterator[Check]:
    """Which frameworks `opentelemetry-instrument` would observe, and whether each observer still fits."""
    points = sorted(entry_points(group=OBSERVERS), key=lambda point: point.name)
    found = [point for point in points if find_spec(point.name)]
    if not found:
        names = ", ".join(point.name for point in points)
        yield Check("frameworks", "ok", f"none of {names} is installed: wrap your tools with @layer.tool")
    packages = packages_distributions() if found else {}
    for point in found:
        release = version(packages[point.name][0]) if point.name in packages else "?"
        try:
            point.load()
        except Exception as error:  # noqa: BLE001 - whatever a framework that changed raises
            told = f"{point.name} {release}: {type(error).__name__}: {error}"
            fix = "install a release that the extra of that name allows; until then it is not observed"
            yield Check("frameworks", "warn", told, fix)
        else:
            yield Check("frameworks", "ok", f"{point.name} {release} can be observed")


def limits(_where: Where) -> Iterator[Check]:
    """Whether the SDK's limits let our spans and events through whole."""
    if _version("opentelemetry-sdk") is None:
        return
    from opentelemetry.sdk.trace import SpanLimits

    try:
        allowed = SpanLimits()
    except ValueError as error:
        yield Check("limits", "fail", str(error), "correct that variable")
        return
    spans = max(len(attributes_of(span)) for span in (CallSpan, AttemptSpan, RunSpan))
    events = max(len(attributes_of(event)) for event in EVENTS)
    needs = (
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", allowed.max_span_attributes, spans, "fail"),
        ("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", allowed.max_event_attributes, events, "fail"),
        ("OTEL_SPAN_EVENT_COUNT_LIMIT", allowed.max_events, _ENOUGH_EVENTS, "warn"),
        ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", allowed.max_span_attribute_length, _ENOUGH_CHARACTERS, "warn"),
    )
    short: list[Check] = [
        Check("limits", level, f"{name} is {limit}; {need} may be needed", f"set {name} to {need} or more")  # type: ignore[arg-type]
        for name, limit, need, level in needs
        if limit is not None and limit < need
    ]
    yield from short or [Check("limits", "ok", f"{allowed.max_events} events a span, long enough values")]


def traces(where: Where) -> Iterator[Check]:
    """Whether there are traces, and whether they can be read."""
    if not where.traces.exists():
        yield Check("traces", "ok", f"{where.traces}: none yet")
        return
    if not find_spec("duckdb"):
        return
    from otel_toolerrors import analysis

    try:
        with analysis.open(where.traces) as opened:
            calls, ours = opened.sql(
                "SELECT count(*), count(*) FILTER (WHERE instrumentation = 'toolerrors') FROM calls"
            ).fetchall()[0]
            read = opened.ingested
    except analysis.TraceSourceError as error:
        yield Check("traces", "warn", str(error))
        return
    told = f"{where.traces}: {read.spans} spans, {calls} tool calls, {ours} of them through this layer"
    if read.quarantined:
        fix = f"toolerrors analyze {where.traces} names them"
        yield Check("traces", "warn", f"{told}; {read.quarantined} lines cannot be read", fix)
    else:
        yield Check("traces", "ok", told)


def provider(where: Where) -> Iterator[Check]:
    """Whether a call through the layer comes out at the other end, with its decisions."""
    if _version("opentelemetry-sdk") is None or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return
    if any(check.level == "fail" for check in endpoint(where)):
        yield Check("delivery", "fail", "not tried: nobody listens", "see exporter")
        return
    from .probe import probe

    sent = probe()
    if sent.problem:
        yield Check("delivery", "fail", sent.problem, "the log of the collector, or of whoever listens, may say why")
    else:
        yield Check("delivery", "ok", f"a test call, its retry and {sent.events} events arrived at {sent.destination}")


CHECKS: tuple[Callable[[Where], Iterator[Check]], ...] = (
    versions, switches, endpoint, provider, sink, limits, policy, catalog, frameworks, traces,
)  # fmt: skip
"""In the order in which they are shown."""


def imported(module: str) -> Check:
    """Import the user's program, and say whether it has set up tracing."""
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - the user's code
        return Check(
            "application", "fail", f"{module}: {type(error).__name__}: {error}", "see whether it imports alone"
        )
    from opentelemetry import trace

    current: Any = trace.get_tracer_provider()
    name = f"{type(current).__module__}.{type(current).__qualname__}"
    if not hasattr(current, "add_span_processor"):
        fix = "call otel_toolerrors.configure(), or run it under opentelemetry-instrument"
        return Check("application", "warn", f"{module}: sets no tracer provider when it is imported", fix)
    return Check("application", "ok", f"{module}: has set up {name}")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _variable(name: str) -> str:
    return (
        os.environ.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}") or os.environ.get(f"OTEL_EXPORTER_OTLP_{name}") or ""
    ).strip()


def _found(name: str) -> Path | None:
    path = Path(name)
    return path if path.exists() else None


def _offered(path: Path) -> set[str] | None:
    """The tools that recent runs offered; None if no run tells."""
    if not (path.exists() and find_spec("duckdb")):
        return None
    from otel_toolerrors import analysis

    query = "SELECT tools FROM run_spans WHERE tools IS NOT NULL ORDER BY start DESC LIMIT ?"
    try:
        with analysis.open(path) as opened:
            lists = [row[0] for row in opened.sql(query, params=[_RECENT]).fetchall()]
    except analysis.TraceSourceError:
        return None
    return {tool for names in lists for tool in names.split(",") if tool} or None
