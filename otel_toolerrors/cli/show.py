"""``toolerrors show``: one trace as a tree, with every decision that was made in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otel_toolerrors.faults import redact

from .analyze import FormatOption
from .codes import ExitCode, Unusable
from .screen import Node, Screen
from .traces import DEFAULT_PATH, TracesPath, opened, quarantine

if TYPE_CHECKING:
    from otel_toolerrors.analysis import Traces

Row = dict[str, Any]

_HIDDEN = frozenset({
    "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.agent.name", "gen_ai.conversation.id",
    "toolerrors.run.id", "toolerrors.call.index", "toolerrors.source", "toolerrors.policy.digest",
    "toolerrors.catalog.version", "toolerrors.tools.offered", "toolerrors.arguments_digest", "toolerrors.fingerprint",
    "toolerrors.target", "toolerrors.arm", "toolerrors.passing", "toolerrors.retryable", "toolerrors.signal.strength",
    "error.type",
})  # fmt: skip
"""What the tree itself shows, or what only joins tables."""
_BASE = frozenset({
    "trace_id", "span_id", "parent_span_id", "name", "kind", "start_ns", "end_ns", "status", "status_message", "scope",
    "position", "signal", "ts_ns", "attributes", "resource", "links",
})  # fmt: skip
_LENGTH = 100


def show(
    trace_id: Annotated[str, typer.Argument(help="The trace's id, or the beginning of it.")],
    path: TracesPath = DEFAULT_PATH,
    *,
    format_: FormatOption = "table",
) -> None:
    """Show one trace as a tree, with what was decided.

    The run, its calls, and their attempts.
    """
    screen = Screen()
    with opened(path) as traces:
        found = find(traces, trace_id)
        spans, events = spans_of(traces, found), events_of(traces, found)
        left_out = quarantine(traces)
    if format_ == "json":
        screen.json({"trace_id": found, "spans": spans, "events": events})
    else:
        screen.tree(draw(found, spans, events))
    raise typer.Exit(ExitCode.QUARANTINED if left_out else ExitCode.DONE)


def find(traces: Traces, beginning: str) -> str:
    """Find the one trace whose id begins like this."""
    query = "SELECT DISTINCT trace_id FROM spans WHERE starts_with(trace_id, ?) ORDER BY trace_id LIMIT 4"
    ids = [row[0] for row in traces.sql(query, params=[beginning.lower()]).fetchall()]
    if len(ids) == 1:
        return str(ids[0])
    if ids:
        raise Unusable(f"{beginning}: several traces begin like this: {', '.join(ids[:3])}. Give more of the id.")
    some = traces.sql("SELECT trace_id FROM calls WHERE outcome NOT IN ('ok', 'cancelled') LIMIT 1").fetchall()
    hint = f" One that went wrong is {some[0][0]}." if some else ""
    raise Unusable(f"{beginning}: no such trace here.{hint}")


def spans_of(traces: Traces, trace_id: str) -> list[Row]:
    """The spans of a trace, in the order they began."""
    return _rows(traces, "SELECT * FROM spans WHERE trace_id = ? ORDER BY start_ns, span_id", trace_id)


def events_of(traces: Traces, trace_id: str) -> list[Row]:
    """The events of a trace, in order."""
    return _rows(traces, "SELECT * FROM events WHERE trace_id = ? ORDER BY ts_ns, span_id, position", trace_id)


def _rows(traces: Traces, query: str, *params: str) -> list[Row]:
    relation = traces.sql(query, params=list(params))
    return [
        {name: _redacted(value) for name, value in zip(relation.columns, row, strict=True) if value is not None}
        for row in relation.fetchall()
    ]


def _redacted(value: Any) -> Any:
    """The value without secrets: our own spans hold none, other instrumentations record errors as they came."""
    match value:
        case str():
            return redact(value, 2 * len(value))
        case dict():
            return {name: _redacted(item) for name, item in value.items()}
        case list():
            return [_redacted(item) for item in value]
        case _:
            return value


def draw(trace_id: str, spans: list[Row], events: list[Row]) -> Node:
    """Arrange spans and their events as a tree, in time; a span that no parent leads up from hangs at the top."""
    start = min((span["start_ns"] for span in spans), default=0)
    parents = {span["span_id"]: span.get("parent_span_id", "") for span in spans}
    top = Node((("trace", "dim"), trace_id))
    nodes = {span["span_id"]: Node(_span_parts(span, start)) for span in spans}
    moments = [(span["start_ns"], 0, _above(span["span_id"], parents), nodes[span["span_id"]]) for span in spans]
    moments += [(event["ts_ns"], 1, event["span_id"], Node(_event_parts(event, start))) for event in events]
    for _, _, parent, node in sorted(moments, key=itemgetter(0, 1)):
        nodes.get(parent, top).children.append(node)
    return top


def _above(span_id: str, parents: Mapping[str, str]) -> str:
    """The parent's id; none where parents lead in a circle, so that all of them are shown."""
    seen, at = set(), parents[span_id]
    while at in parents and at not in seen:
        if at == span_id:
            return ""
        seen.add(at)
        at = parents[at]
    return parents[span_id]


def _span_parts(span: Row, start: int) -> tuple[tuple[object, str] | object, ...]:
    seconds = (span["end_ns"] - span["start_ns"]) / 1e9
    bad = span.get("status") == "ERROR"
    outcome = span.get("toolerrors.outcome") or span.get("error.type") or ("failed" if bad else "ok")
    style = "red" if bad else "green" if outcome in ("ok", "recovered") else "yellow"
    when = f"{_moment(span['start_ns'], start)} for {seconds:.2f} s"
    return (span["name"], "bold"), (outcome, style), (when, "dim"), _attributes(span, skip=("toolerrors.outcome",))


def _event_parts(event: Row, start: int) -> tuple[tuple[object, str] | object, ...]:
    name = str(event["name"]).removeprefix("toolerrors.")
    return (name, "cyan"), (_moment(event["ts_ns"], start), "dim"), _attributes(event)


def _moment(at_ns: int, start_ns: int) -> str:
    return f"+{(at_ns - start_ns) / 1e9:.2f} s"


def _attributes(row: Mapping[str, Any], skip: Iterable[str] = ()) -> str:
    """The attributes that a reader wants, in short."""
    hidden = _HIDDEN | _BASE | set(skip)
    pairs = ((name, value) for name, value in row.items() if name not in hidden and not name.startswith(_RESOURCE))
    return "  ".join(f"{_short(name)}={_brief(value)}" for name, value in pairs)


_RESOURCE = ("service.", "deployment.", "telemetry.", "process.", "host.")


def _short(name: str) -> str:
    return name.removeprefix("toolerrors.").removeprefix("gen_ai.")


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    text = str(value)
    text = text if len(text) <= _LENGTH else text[:_LENGTH] + "…"
    return f'"{text}"' if " " in text else text
