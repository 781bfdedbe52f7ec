"""Pictures of what the demo did: one trace as a waterfall, and a tuning curve, each for light and for dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import altair as alt

from otel_toolerrors.analysis import Traces
from otel_toolerrors.analysis.patch import Change
from otel_toolerrors.analysis.replay import Replayer, record
from otel_toolerrors.analysis.tune import Tuned, changed

Row = dict[str, Any]
Chart = Any
"""Any of altair's charts: their common base has no name of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colours that can be read on pages of one kind."""

    name: str
    ink: str
    faint: str
    colours: dict[str, str]


LIGHT = Theme(
    name="light", ink="#1f2328", faint="#d8dee4",
    colours={
        "run": "#8c959f", "ok": "#2da44e", "recovered": "#0969da", "failed attempt": "#f0883e", "failed": "#cf222e",
        "waiting": "#d4a72c",
    },
)  # fmt: skip
DARK = Theme(
    name="dark", ink="#e6edf3", faint="#30363d",
    colours={
        "run": "#6e7681", "ok": "#3fb950", "recovered": "#58a6ff", "failed attempt": "#f0883e", "failed": "#ff7b72",
        "waiting": "#d29922",
    },
)  # fmt: skip

_WIDTH = 560
_FONT = "Helvetica, Arial, sans-serif"


def draw(traces: Traces, tuned: Tuned, folder: Path) -> list[Path]:
    """Draw both pictures for both kinds of page; give the files."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, curve = waterfall_rows(traces, telling_trace(traces)), tuning_curve(traces, tuned)
    written = []
    for theme in (LIGHT, DARK):
        charts = {"trace": waterfall(rows, theme)} | ({"tuning": tuning(curve, theme)} if curve else {})
        for name, chart in charts.items():
            path = folder / f"{name}-{theme.name}.svg"
            chart.save(str(path))
            written.append(path)
    return written


# One trace


def telling_trace(traces: Traces) -> str:
    """A trace with a recovery and, if there is one, a failure: with the most kinds of decisions, and short."""
    query = """
    SELECT c.trace_id FROM calls c JOIN runs r ON r.trace_id = c.trace_id
    LEFT JOIN (SELECT trace_id, count(DISTINCT name) AS kinds FROM events GROUP BY ALL) e ON e.trace_id = c.trace_id
    GROUP BY c.trace_id
    ORDER BY bool_or(c.outcome = 'recovered') DESC, count(DISTINCT c.outcome) DESC, min(e.kinds) DESC,
      min(r.duration), c.trace_id
    LIMIT 1"""
    return str(traces.sql(query).fetchall()[0][0])


_SPANS = """
SELECT span_id, coalesce(parent_span_id, ''), name, start_ns, end_ns, "toolerrors.outcome", "error.type",
  "toolerrors.attempt"
FROM spans WHERE trace_id = ? ORDER BY start_ns, span_id"""
_DECISIONS = """
SELECT span_id, name, ts_ns, "toolerrors.attempt", "toolerrors.retry.delay", "toolerrors.retry.basis",
  "toolerrors.retry.reason", "toolerrors.stop.reason", "toolerrors.injected.tokens"
FROM events WHERE trace_id = ? ORDER BY ts_ns, position"""


@dataclass(frozen=True, slots=True)
class _Span:
    id: str
    parent: str
    name: str
    start: int
    end: int
    outcome: str | None
    error: str | None
    attempt: int | None


@dataclass(frozen=True, slots=True)
class _Decision:
    span: str
    name: str
    at: int
    attempt: int | None
    delay: float | None
    basis: str | None
    refusal: str | None
    stop: str | None
    tokens: int | None


def waterfall_rows(traces: Traces, trace_id: str) -> list[Row]:
    """The bars of a trace: begin, end, line, colour and a note."""
    spans = [_Span(*row) for row in traces.sql(_SPANS, params=[trace_id]).fetchall()]
    decisions = [_Decision(*row) for row in traces.sql(_DECISIONS, params=[trace_id]).fetchall()]
    return list(_bars(spans, decisions))


def _bars(spans: list[_Span], decisions: list[_Decision]) -> Iterator[Row]:
    zero = min(span.start for span in spans)
    for line, (depth, span) in enumerate(_in_tree_order(spans)):
        made = [one for one in decisions if one.span == (span.parent if span.attempt else span.id)]
        bar = {"line": line, "label": f"– {span.name}" if depth > 1 else span.name}
        note = _attempt_note(span, made) if span.attempt else _call_note(span, made) if depth else ""
        begin, end = (span.start - zero) / 1e9, (span.end - zero) / 1e9
        yield bar | {"begin": begin, "end": end, "what": _verdict(span, depth), "note": note}
        if span.attempt is None:
            for one in made:
                if one.delay and one.name.endswith("retry.scheduled"):
                    wait = (one.at - zero) / 1e9
                    yield bar | {"begin": wait, "end": wait + one.delay, "what": "waiting", "note": ""}


def _in_tree_order(spans: list[_Span], parent: str | None = None, depth: int = 0) -> Iterator[tuple[int, _Span]]:
    known = {span.id for span in spans}
    for span in spans:
        if span.parent == parent or (parent is None and span.parent not in known):
            yield depth, span
            yield from _in_tree_order(spans, span.id, depth + 1)


def _verdict(span: _Span, depth: int) -> str:
    if depth == 0:
        return "run"
    if span.attempt:
        return "failed attempt" if span.error else "ok"
    return "failed" if span.error else span.outcome or "ok"


def _attempt_note(span: _Span, decisions: Iterable[_Decision]) -> str:
    for one in decisions:
        if one.attempt == span.attempt and one.name.endswith("retry.scheduled"):
            why = ", as the server asks" if one.basis == "retry_after" else ""
            return f"{span.error}: again in {one.delay:.1f} s{why}"
        if one.attempt == span.attempt and one.name.endswith("retry.refused"):
            return f"{span.error}: not again ({one.refusal})"
    return span.error or "worked"


def _call_note(span: _Span, decisions: Iterable[_Decision]) -> str:
    for one in decisions:
        if one.name.endswith("run.stopped"):
            return f"stops the run: {one.stop}"
        if one.name.endswith("error.surfaced"):
            return f"shown to the model, with {one.tokens} tokens of context"
    return span.outcome or ""


def waterfall(rows: list[Row], theme: Theme) -> Chart:
    """Draw the bars of a trace."""
    labels = {row["line"]: row["label"] for row in rows}
    names = [name for name in theme.colours if name in {row["what"] for row in rows}]
    longest = max(row["end"] for row in rows)
    line = alt.Y("line:O", title=None, axis=alt.Axis(
        labelExpr=" : ".join(f"datum.value == {n} ? {text!r}" for n, text in labels.items()) + " : ''",
        labelAlign="left", labelPadding=205, labelLimit=200, ticks=False, domain=False,
    ))  # fmt: skip
    scale = alt.Scale(domain=[0, longest], nice=False)
    base = alt.Chart(_data(rows))
    bars = base.mark_bar(height={"band": 0.6}, cornerRadius=2).encode(
        x=alt.X("begin:Q", title="seconds (simulated)", scale=scale, axis=alt.Axis(grid=False)),
        x2="end:Q", y=line, color=_colour(names, theme, legend=alt.Legend(orient="top", direction="horizontal")),
    )  # fmt: skip
    notes = (
        base.transform_filter("datum.note != ''")
        .mark_text(align="left", dx=6, color=theme.ink, fontSize=11)
        .encode(x=alt.X("end:Q"), y=line, text="note:N")
    )
    return _dressed(alt.layer(bars, notes).properties(width=_WIDTH, height=22 * len(labels)), theme)


# One number


@dataclass(frozen=True, slots=True)
class Curve:
    """What replay says of one number, the others being as tuned."""

    key: str
    default: float
    tuned: float
    rows: list[Row]


_GRIDS = {
    "max_attempts": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0),
    "base_delay": (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
}
_MEASURED = {"calls failed or never made": ("failed", "cut_off"), "added latency, s": ("added_latency",)}
_REPLICAS = 5


def tuning_curve(traces: Traces, tuned: Tuned) -> Curve | None:
    """Replay the traces with other values of the tuned number that matters most; None if there is none."""
    replayer = Replayer.of(record(traces), 0)
    candidates = [change for change in tuned.changes if change.path[0] == "tools" and change.path[-1] in _GRIDS]
    change = max(candidates, key=lambda one: _failed(replayer, tuned, one, _default(tuned, one)), default=None)
    if change is None:
        return None
    rows = [row for value in _GRIDS[change.path[-1]] for row in _measured(replayer, tuned, change, value)]
    return Curve(".".join(change.path), _default(tuned, change), change.value, rows)


def _default(tuned: Tuned, change: Change) -> float:
    return float(getattr(tuned.base.retry_for(change.path[1], "main_agent"), change.path[-1]))


def _failed(replayer: Replayer, tuned: Tuned, change: Change, value: float) -> float:
    return sum(
        float(row["mean"]) for row in _measured(replayer, tuned, change, value) if row["what"].startswith("calls")
    )


def _measured(replayer: Replayer, tuned: Tuned, change: Change, value: float) -> Iterator[Row]:
    replayed = replayer.replay(changed(tuned.policy, [replace(change, value=value)]), _REPLICAS)
    for what, names in _MEASURED.items():
        parts = [replayed.intervals[name] for name in names]
        low, mean, high = (sum(getattr(one, name) for one in parts) for name in ("low", "value", "high"))
        yield {"value": value, "what": what, "low": low, "mean": mean, "high": high}


def tuning(curve: Curve, theme: Theme) -> Chart:
    """Draw failed calls and added latency over the number, with the default and the tuned value marked."""
    colours = dict(zip(_MEASURED, (theme.colours["recovered"], theme.colours["waiting"]), strict=True))
    panels = [_panel(curve, what, colour, theme) for what, colour in colours.items()]
    return _dressed(alt.vconcat(*panels, spacing=10), theme)


def _panel(curve: Curve, what: str, colour: str, theme: Theme) -> Chart:
    rows = [row for row in curve.rows if row["what"] == what]
    marks = [
        {"value": curve.default, "text": f"default {curve.default:g}", "what": "failed"},
        {"value": curve.tuned, "text": f"tuned {curve.tuned:g}", "what": "ok"},
    ]
    axis = alt.Axis(values=[row["value"] for row in rows], format="~g", grid=False)
    domain = [rows[0]["value"], rows[-1]["value"] * 1.25]  # room for a mark's text
    x = alt.X("value:Q", title=curve.key, axis=axis, scale=alt.Scale(type="log", domain=domain, nice=False))
    y = alt.Y("mean:Q", title=what, scale=alt.Scale(zero=False))
    base = alt.Chart(_data(rows)).encode(x=x)
    band = base.mark_area(opacity=0.2, color=colour).encode(y=alt.Y("low:Q", title=what), y2="high:Q")
    line = base.mark_line(color=colour, point=alt.OverlayMarkDef(color=colour, size=40)).encode(y=y)
    ruled = alt.Chart(_data(marks)).encode(x=x, color=_colour(["failed", "ok"], theme, legend=None))
    rules = ruled.mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
    words = ruled.mark_text(align="left", dx=5, y=8, fontSize=11).encode(text="text:N")
    return alt.layer(band, line, rules, words).properties(width=_WIDTH, height=140)


# Both


def _data(rows: list[Row]) -> Any:
    return alt.InlineData(values=rows)


def _colour(names: list[str], theme: Theme, *, legend: Any) -> Any:
    scale = alt.Scale(domain=names, range=[theme.colours[name] for name in names])
    return alt.Color("what:N", title=None, scale=scale, legend=legend)


def _dressed(chart: Chart, theme: Theme) -> Chart:
    return (
        chart.configure(background="transparent", font=_FONT)
        .configure_view(strokeWidth=0)
        .configure_axis(
            labelColor=theme.ink, titleColor=theme.ink, gridColor=theme.faint, domainColor=theme.faint,
            tickColor=theme.faint, titleFontWeight="normal", labelFontSize=11, titleFontSize=11,
        )
        .configure_legend(labelColor=theme.ink, symbolType="square", labelFontSize=11)
    )  # fmt: skip
