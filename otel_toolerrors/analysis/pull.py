"""Traces from where they are kept, Jaeger or Tempo, into a folder that `open()` reads.

Neither API has pages. Time is cut into windows; a window that holds more traces
than one answer may is halved. Each window becomes a file when it is complete, so
that a pull which was cut off goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .ingest.careful import unwrap
from .sources import TraceSourceError

if TYPE_CHECKING:
    import httpx

Backend = Literal["jaeger", "tempo"]
Json = dict[str, Any]

_SECOND = 1_000_000_000
_NOT_FOUND = 404
_TIMEOUT = 60.0
"""Seconds for one answer: a window of many traces takes a while to collect."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """How far a pull is."""

    windows: int = 0
    """Windows in all."""
    done: int = 0
    """Windows that are complete, those of an earlier pull included."""
    traces: int = 0
    """Traces that this pull wrote; one that spans two windows counts twice, and is read once."""


def pull(
    url: str,
    folder: str | Path,
    *,
    since: datetime,
    until: datetime,
    backend: Backend | None = None,
    services: Sequence[str] = (),
    query: str = "{}",
    window: timedelta = timedelta(hours=1),
    limit: int = 200,
    headers: Mapping[str, str] | None = None,
    progress: Callable[[Pulled], None] | None = None,
) -> Pulled:
    """Copy the traces between two times from Jaeger (its API v3) or Tempo into ``folder``, as JSON lines.

    Args:
        url: the server, such as ``http://localhost:16686`` for Jaeger or ``http://localhost:3200`` for Tempo.
        folder: where to write, and where the windows of an earlier pull are found.
        since: start of the first trace, with a time zone.
        until: end of the last; a window that is not over yet is pulled again next time.
        backend: which of the two it is; found out by asking otherwise.
        services: Jaeger's services to copy; all that it knows otherwise.
        query: TraceQL that selects Tempo's traces.
        window: time that one file covers.
        limit: traces that one answer may hold.
        headers: sent with each request, such as ``Authorization`` or ``X-Scope-OrgID``.
        progress: called after each window.

    Raises:
        TraceSourceError: no such server there, or it refuses; the message says what to do.
        ImportError: httpx is missing: ``pip install 'otel-toolerrors[pull]'``.
    """
    try:
        import httpx  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError("pull() needs httpx: pip install 'otel-toolerrors[pull]'") from error

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with _explained(url), httpx.Client(base_url=url, headers=headers, timeout=_TIMEOUT) as client:
        chosen = backend or _ask(client, url)
        store: _Store = _Tempo(client, query, limit) if chosen == "tempo" else _Jaeger(client, services, limit)
        windows = list(_windows(_nanoseconds(since), _nanoseconds(until), window // timedelta(microseconds=1) * 1_000))
        state = Pulled(windows=len(windows))
        for begin, end in windows:
            traces = 0 if _is_there(place, chosen, begin, end) else _write(store, place, chosen, (begin, end), limit)
            state = replace(state, done=state.done + 1, traces=state.traces + traces)
            if progress:
                progress(state)
    return state


class _Store(Protocol):
    """A server that keeps traces."""

    resolution: int
    """Nanoseconds below which a window cannot be cut."""

    def fetch(self, begin: int, end: int) -> dict[str, list[Json]] | None:
        """Return export requests by trace id; None if there are more traces than one answer may hold."""


class _Jaeger:
    resolution = 1_000

    def __init__(self, client: httpx.Client, services: Sequence[str], limit: int) -> None:
        self._client = client
        self._limit = limit
        self._services = services or _get(client, "/api/v3/services").json().get("services") or ()

    def fetch(self, begin: int, end: int) -> dict[str, list[Json]] | None:
        found: dict[str, list[Json]] = {}
        for service in self._services:
            parameters = {"service_name": service, "start_time_min": _rfc3339(begin), "start_time_max": _rfc3339(end)}
            # Version 1 limits by num_traces, version 2 by searchDepth; each ignores the other's spelling.
            parameters |= {"num_traces": str(self._limit), "search_depth": str(self._limit)}
            spelled = {f"query.{name}": value for key, value in parameters.items() for name in (key, _camel(key))}
            answer = _get(self._client, "/api/v3/traces", spelled, missing_is_empty=True)
            of_service: dict[str, list[Json]] = {}
            for request in unwrap(answer.content):
                for trace, part in _by_trace(request):
                    of_service.setdefault(trace, []).append(part)
            if len(of_service) >= self._limit:
                return None
            found |= of_service
        return found


class _Tempo:
    resolution = _SECOND

    def __init__(self, client: httpx.Client, query: str, limit: int) -> None:
        self._client = client
        self._query = query
        self._limit = limit

    def fetch(self, begin: int, end: int) -> dict[str, list[Json]] | None:
        start, stop = begin // _SECOND, max(-(-end // _SECOND), begin // _SECOND + 1)
        parameters = {"q": self._query, "start": str(start), "end": str(stop), "limit": str(self._limit)}
        found = _get(self._client, "/api/search", parameters).json().get("traces") or ()
        if len(found) >= self._limit:
            return None
        return {trace["traceID"]: self._trace(trace["traceID"]) for trace in found}

    def _trace(self, trace_id: str) -> list[Json]:
        headers = {"Accept": "application/json"}
        answer = _get(self._client, f"/api/v2/traces/{trace_id}", missing_is_empty=True, headers=headers)
        return list(unwrap(answer.content))


def _pulled(place: Path, backend: Backend, begin: int) -> dict[int, Path]:
    """Files of an earlier pull for the window that begins here, by the time up to which they hold everything."""
    return {int(file.stem.rsplit("-", 1)[1]): file for file in place.glob(f"{backend}-{begin}-*.jsonl")}


def _is_there(place: Path, backend: Backend, begin: int, end: int) -> bool:
    return max(_pulled(place, backend, begin), default=begin) >= end


def _write(store: _Store, place: Path, backend: Backend, window: tuple[int, int], limit: int) -> int:
    """Write a window's traces to a file that appears when it is complete; return how many they are."""
    begin, end = window
    shorter = _pulled(place, backend, begin)  # the same window, when it was not over yet
    unfinished = place / f"{backend}-{begin}-{end}.unfinished"
    traces = 0
    with unfinished.open("w", encoding="utf-8") as target:
        for requests in _fetch_all(store, begin, end, limit):
            traces += len(requests)
            for request in (request for parts in requests.values() for request in parts):
                target.write(json.dumps(request, separators=(",", ":")) + "\n")
    unfinished.replace(unfinished.with_suffix(".jsonl"))
    for earlier in shorter.values():
        earlier.unlink()
    return traces


def _fetch_all(store: _Store, begin: int, end: int, limit: int) -> Iterator[dict[str, list[Json]]]:
    found = store.fetch(begin, end)
    if found is not None:
        yield found
        return
    middle = (begin + end) // 2 // store.resolution * store.resolution
    if middle <= begin:
        raise TraceSourceError(
            f"{limit} traces or more begin within {(end - begin) / _SECOND:g} s of {_rfc3339(begin)}: raise the limit."
        )
    yield from _fetch_all(store, begin, middle, limit)
    yield from _fetch_all(store, middle, end, limit)


def _windows(since: int, until: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield windows that lie the same whatever the pull's own limits, but for the first and the last."""
    while since < until:
        end = min((since // length + 1) * length, until)
        yield since, end
        since = end


def _by_trace(request: Json) -> Iterator[tuple[str, Json]]:
    """Split a request by trace: an answer of Jaeger may hold several."""
    for resource in request.get("resourceSpans") or ():
        for scope in resource.get("scopeSpans") or ():
            spans: dict[str, list[Json]] = {}
            for span in scope.get("spans") or ():
                spans.setdefault(str(span.get("traceId")), []).append(span)
            for trace, rows in spans.items():
                yield trace, {"resourceSpans": [resource | {"scopeSpans": [scope | {"spans": rows}]}]}


def _ask(client: httpx.Client, url: str) -> Backend:
    """Find out which server this is."""
    if client.get("/api/v3/services").is_success:
        return "jaeger"
    if client.get("/api/echo").is_success:
        return "tempo"
    raise TraceSourceError(
        f"{url}: neither Jaeger's API v3 nor Tempo answers there. Check the port, or name the backend."
    )


def _get(
    client: httpx.Client,
    path: str,
    parameters: Mapping[str, str] | None = None,
    *,
    missing_is_empty: bool = False,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    answer = client.get(path, params=parameters, headers=headers)
    if answer.is_error and not (missing_is_empty and answer.status_code == _NOT_FOUND):
        raise TraceSourceError(f"{answer.request.url}: {answer.status_code} {answer.text[:200].strip()}")
    return answer


@contextmanager
def _explained(url: str) -> Iterator[None]:
    import httpx  # noqa: PLC0415 - as above

    try:
        yield
    except httpx.HTTPError as error:
        message = (
            f"{url}: {type(error).__name__}: {error}. Is the server up? What is pulled so far stays; run it again."
        )
        raise TraceSourceError(message) from error
    except json.JSONDecodeError as error:
        raise TraceSourceError(f"{url}: the answer is no JSON: {error}. Is this the API's port?") from error


def _nanoseconds(time: datetime) -> int:
    if time.tzinfo is None:
        raise TraceSourceError(f"{time}: a time without a zone. Write for example 2026-11-01T00:00:00+00:00.")
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1_000


def _rfc3339(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, _SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
