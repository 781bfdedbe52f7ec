"""``toolerrors pull``: copy traces from Jaeger or Tempo into a folder."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .analyze import FormatOption
from .classify import fields_of
from .codes import Unusable
from .screen import Screen

if TYPE_CHECKING:
    from otel_toolerrors.analysis.pull import Pulled

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d+)([smhdw])")


def pull(
    url: Annotated[str, typer.Argument(help="http://localhost:16686 for Jaeger, http://localhost:3200 for Tempo.")],
    folder: Annotated[Path, typer.Argument(help="Where the traces go; a pull that was cut off goes on there.")] = Path(
        ".toolerrors/pulled"
    ),
    *,
    since: Annotated[str, typer.Option(help="How far back, as 90m, 24h, 7d; or a time, as 2026-11-01T00:00Z.")] = "24h",
    until: Annotated[str | None, typer.Option(help="Likewise; default: now.")] = None,
    backend: Annotated[
        Literal["jaeger", "tempo"] | None, typer.Option(help="Which of the two it is; default: ask it.")
    ] = None,
    service: Annotated[list[str] | None, typer.Option(help="Jaeger: only this service; may be repeated.")] = None,
    query: Annotated[str, typer.Option(help="Tempo: TraceQL that selects the traces.")] = "{}",
    window: Annotated[str, typer.Option(help="Time that one file covers.")] = "1h",
    limit: Annotated[int, typer.Option(min=2, help="Traces that one answer of the server may hold.")] = 200,
    header: Annotated[
        list[str] | None, typer.Option(help="Sent with each request, as 'X-Scope-OrgID: triage'; may be repeated.")
    ] = None,
    format_: FormatOption = "table",
) -> None:
    """Copy traces from Jaeger or Tempo into a folder.

    Hour by hour; run it again to go on, or to fetch what is new.
    """
    if not find_spec("httpx"):
        raise Unusable("httpx: not installed. Run: pip install 'otel-toolerrors[cli,pull]'")
    from otel_toolerrors.analysis import TraceSourceError
    from otel_toolerrors.analysis.pull import pull as copy

    screen, notes = Screen(), Screen(sys.stderr)
    now = datetime.now(UTC)  # noqa: TID251 - a command line reads the clock on the wall
    length = duration(window, "--window")
    begin = moment(since, now, "--since", align=length)
    end = moment(until, now, "--until") if until else now
    if begin >= end:
        raise Unusable(f"--since {since} is not before --until {until or 'now'}.")
    try:
        with notes.progress(f"Pulling from {url}") as tell:
            pulled = copy(
                url, folder, since=begin, until=end, backend=backend, services=tuple(service or ()), query=query,
                window=length, limit=limit, headers=fields_of(header or []),
                progress=lambda state: tell(state.done / state.windows),
            )  # fmt: skip
    except TraceSourceError as error:
        raise Unusable(str(error)) from error
    except KeyboardInterrupt:
        raise Unusable(f"stopped. What is complete stays in {folder}; the same command goes on from there.") from None
    _tell(screen, pulled, folder, format_)


def _tell(screen: Screen, pulled: Pulled, folder: Path, format_: str) -> None:
    if format_ == "json":
        screen.json({"folder": str(folder), "windows": pulled.windows, "traces": pulled.traces})
        return
    screen.say(f"{pulled.traces} traces are new, from {pulled.windows} windows, in {folder}.")
    if not pulled.traces and not any(file.stat().st_size for file in folder.glob("*.jsonl")):
        screen.say("None at all: is it the right server, service and time? The times are those of the spans.", "yellow")
        return
    screen.say(f"Look at them: toolerrors analyze {folder}")


def duration(text: str, option: str) -> timedelta:
    """Read ``90m`` as an hour and a half."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise Unusable(f"{option} {text}: write a number and s, m, h, d or w, as in 24h.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def moment(text: str, now: datetime, option: str, align: timedelta | None = None) -> datetime:
    """Read a time, or how long it is before ``now``; the latter moved back to a multiple of ``align``.

    So the first window of a repeated pull is the same one, and is not fetched again.
    """
    if not _SPAN.fullmatch(text.strip()):
        try:
            found = datetime.fromisoformat(text)
        except ValueError as error:
            raise Unusable(
                f"{option} {text}: write a time as 2026-11-01T00:00Z, or how long ago, as in 24h."
            ) from error
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    back = now - duration(text, option)
    return back if align is None else back - (back - datetime(1970, 1, 1, tzinfo=UTC)) % align
