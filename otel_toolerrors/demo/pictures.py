"""Pictures of what the demo did: one trace as a waterfall, and what the tuner saw, each for light and for dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import altair as alt

    from otel_toolerrors.analysis import Traces
    from otel_toolerrors.analysis.patch import Change
    from otel_toolerrors.analysis.tune import Tuned

AnyChart = TypeVar("AnyChart", "alt.LayerChart", "alt.VConcatChart")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colours that can be read on a page of one kind."""

    name: str
    ink: str
    faint: str
    colours: dict[str, str]


LIGHT = Theme(
    name="light", ink="#1f2328", faint="#d8dee4",
    colours={
        "run": "#8c959f", "ok": "#2da44e", "recovered": "#0969da", "failed": "#cf222e", "waiting": "#d4a72c",
    },
)  # fmt: skip
DARK = Theme(
    name="dark", ink="#e6edf3", faint="#30363d",
    colours={
        "run": "#6e7681", "ok": "#3fb950", "recovered": "#58a6ff", "failed": "#ff7b72", "waiting": "#d29922",
    },
)  # fmt: skip

_WIDTH = 560
_FONT = "Helvetica Neue, Helvetica, Arial, sans-serif"


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


def telling_trace(traces: Traces) -> str:
    """The trace that shows the most kinds of decisions, and among those the shortest."""
    query = """
    SELECT e.trace_id FROM events e JOIN runs r ON r.trace_id = e.trace_id
    GROUP BY e.trace_id HAVING count(DISTINCT e.span_id) <= 4
    ORDER BY count(DISTINCT e.name) DESC, min(r.duration), e.trace_id LIMIT 1"""
    return str(traces.sql(query).fetchall()[0][0])


_SPANS = """
SELECT span_id, parent_span_id, name, start_ns, end_ns, "toolerrors.outcome", "error.type", "toolerrors.attempt"
FROM spans WHERE trace_id = ? ORDER BY start_ns, span_id"""
_DECISIONS = """
SELECT span_id, name, ts_ns, "toolerrors.attempt", "toolerrors.retry.delay", "toolerrors.retry.basis",
  "toolerrors.retry.reason", "toolerrors.stop.reason", "toolerrors.injected.tokens"
FROM events WHERE trace_id = ? ORDER BY ts_ns, position"""


def waterfall_rows(traces: Traces, trace_id: str) -> list[Row]:
    """The bars of a trace: begin, end, line, colour and a note."""
    spans = traces.sql(_SPANS, params=[trace_id]).fetchall()
    decisions = traces.sql(_DECISIONS, params=[trace_id]).fetchall()
    zero = min(span[3] for span in spans)
    return list(_bars(spans, decisions, zero))


def _bars(spans: list[Any], decisions: list[Any], zero: int) -> Iterator[Row]:
    depths: dict[str, int] = {}
    for line, (span, parent, name, start, end, outcome, error, attempt) in enumerate(_in_tree_order(spans)):
        depths[span] = depth = depths.get(parent, -1) + 1
        of_call = [one for one in decisions if one[0] == (parent if attempt else span)]
        verdict = "failed" if error else outcome or ("run" if depth == 0 else "ok")
        bar = {"line": line, "label": f"{'   ' * depth}{name}", "depth": depth}
        note = _attempt_note(error, attempt, of_call) if attempt else _call_note(outcome, of_call)
        yield bar | {"begin": (start - zero) / 1e9, "end": (end - zero) / 1e9, "what": verdict, "note": note}
        if attempt is None:
            for one in of_call:
                if one[4] and one[1].endswith("retry.scheduled"):
                    begin = (one[2] - zero) / 1e9
                    yield bar | {"begin": begin, "end": begin + one[4], "what": "waiting", "note": ""}


def _in_tree_order(spans: list[Any], parent: str | None = None) -> Iterator[Any]:
    known = {span[0] for span in spans}
    for span in spans:
        if span[1] == parent or (parent is None and span[1] not in known):
            yield span
            yield from _in_tree_order(spans, span[0])


def _attempt_note(error: str | None, attempt: int, decisions: Iterable[Any]) -> str:
    for one in decisions:
        if one[3] == attempt and one[1].endswith("retry.scheduled"):
            why = ", the server said" if one[5] == "retry_after" else ""
            return f"{error}: again in {one[4]:.1f} s{why}"
        if one[3] == attempt and one[1].endswith("retry.refused"):
            return f"{error}: not again ({one[6]})"
    return error or "worked"


def _call_note(outcome: str | None, decisions: Iterable[Any]) -> str:
    for one in decisions:
        if one[1].endswith("run.stopped"):
            return f"the run stops: {one[7]}"
        if one[1].endswith("error.surfaced"):
            return f"shown to the model, {one[8]} tokens of context"
    return outcome or ""


def waterfall(rows: list[Row], theme: Theme) -> alt.LayerChart:
    """Draw the bars of a trace."""
    import altair as alt

    labels = {row["line"]: row["label"] for row in rows}
    names = list(dict.fromkeys(row["what"] for row in rows))
    line = alt.Y("line:O", title=None, axis=alt.Axis(
        labelExpr=" : ".join(f"datum.value == {n} ? {text!r}" for n, text in labels.items()) + " : ''",
        labelAlign="left", labelPadding=210, labelLimit=210, ticks=False, domain=False, grid=False,
    ))  # fmt: skip
    longest = max(row["end"] for row in rows)
    base = alt.Chart(alt.Data(values=rows))
    scale = alt.Scale(domain=[0, longest * 1.02])
    colour = alt.Color(
        "what:N", title=None, scale=alt.Scale(domain=names, range=[theme.colours[name] for name in names]),
        legend=alt.Legend(orient="top", direction="horizontal"),
    )  # fmt: skip
    bars = base.mark_bar(height={"band": 0.55}, cornerRadius=2).encode(
        y=line, x=alt.X("begin:Q", title="seconds (simulated)", scale=scale), x2="end:Q", color=colour
    )
    notes = (
        base.transform_filter("datum.note != ''")
        .mark_text(align="left", dx=6, color=theme.ink, fontSize=11)
        .encode(y=line, x=alt.X("end:Q"), text="note:N")
    )
    height = 24 * len(labels)
    return _dressed(alt.layer(bars, notes).properties(width=_WIDTH, height=height, padding={"right": 220}), theme)


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
    "cooldown": (5.0, 15.0, 30.0, 60.0, 120.0),
}
_MEASURED = {"calls that failed or were never made": ("failed", "cut_off"), "added latency, seconds": ("added_latency",)}


def tuning_curve(traces: Traces, tuned: Tuned) -> Curve | None:
    """Replay the traces with each value of the tuned number that moves most; None if none of them can be moved so."""
    curves = [_curve(traces, tuned, change) for change in tuned.changes if change.path[-1] in _GRIDS]
    return max(curves, key=_range, default=None)


def _curve(traces: Traces, tuned: Tuned, change: Change) -> Curve:
    from otel_toolerrors.analysis.tune import changed

    rows: list[Row] = []
    for value in _GRIDS[change.path[-1]]:
        replayed = traces.replay(changed(tuned.policy, [replace(change, value=value)]), replicas=_REPLICAS)
        for what, names in _MEASURED.items():
            seconds = [replayed.intervals[name] for name in names]
            rows.append({
                "value": value, "what": what, "mean": sum(one.value for one in seconds),
                "low": sum(one.low for one in seconds), "high": sum(one.high for one in seconds),
            })  # fmt: skip
    default = getattr(tuned.base.retry if change.path[-2] == "retry" else tuned.base.breaker, change.path[-1])
    return Curve(".".join(change.path), default, change.value, rows)


_REPLICAS = 5


def _range(curve: Curve) -> float:
    failed = [row["mean"] for row in curve.rows if row["what"].startswith("calls")]
    return max(failed) - min(failed)


def tuning(curve: Curve, theme: Theme) -> alt.VConcatChart:
    """Draw failed calls and added latency over the number, with the default and the tuned value marked."""
    import altair as alt

    marks = [
        {"value": curve.default, "text": f"default {curve.default:g}", "what": "failed"},
        {"value": curve.tuned, "text": f"tuned {curve.tuned:g}", "what": "ok"},
    ]
    x = alt.X("value:Q", scale=alt.Scale(type="log"), title=None, axis=alt.Axis(values=sorted({r["value"] for r in curve.rows})))
    panels = []
    for place, what in enumerate(_MEASURED):
        title = curve.key if place == len(_MEASURED) - 1 else None
        rows = [row for row in curve.rows if row["what"] == what]
        base = alt.Chart(alt.Data(values=rows)).encode(x=x.title(title))
        y = alt.Y("mean:Q", title=what, scale=alt.Scale(zero=False))
        colour = theme.colours["recovered" if place == 0 else "waiting"]
        band = base.mark_area(opacity=0.25, color=colour).encode(y=alt.Y("low:Q", title=what, scale=alt.Scale(zero=False)), y2="high:Q")
        line = base.mark_line(color=colour, point=alt.OverlayMarkDef(color=colour, size=40)).encode(y=y)
        ruled = alt.Chart(alt.Data(values=marks)).encode(
            x=x, color=alt.Color("what:N", legend=None, scale=_scale(["failed", "ok"], theme))
        )
        rules = ruled.mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
        layers = [band, line, rules]
        if place == 0:
            layers.append(ruled.mark_text(align="left", dx=5, y=8, fontSize=11).encode(text="text:N"))
        panels.append(alt.layer(*layers).properties(width=_WIDTH, height=150))
    return _dressed(alt.vconcat(*panels, spacing=12), theme)


def _scale(names: list[str], theme: Theme) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=names, range=[theme.colours[name] for name in names])


def _dressed(chart: AnyChart, theme: Theme) -> AnyChart:
    dressed: AnyChart = (
        chart.configure(background="transparent", font=_FONT)
        .configure_view(strokeWidth=0)
        .configure_axis(
            labelColor=theme.ink, titleColor=theme.ink, gridColor=theme.faint, domainColor=theme.faint,
            tickColor=theme.faint, titleFontWeight="normal", labelFontSize=11, titleFontSize=11,
        )
        .configure_legend(labelColor=theme.ink, symbolType="square", labelFontSize=11)
    )  # fmt: skip
    return dressed
