"""The charts of a report and of the notebooks, drawn without a browser."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.tune import Tuned

from .summary import Summary

if TYPE_CHECKING:
    import altair as alt

OUTCOMES = {
    "ok": "#b9c3cc",
    "recovered": "#2a9d8f",
    "degraded": "#e9c46a",
    "surfaced": "#f4a261",
    "denied": "#8d80ad",
    "cancelled": "#6c757d",
    "stopped": "#d1495b",
}
"""Colours of outcomes, told apart also with a red-green weakness."""

_WIDTH = 640
_NARROW = 300
"""Width on a phone, so that letters keep their size there."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as images: for light and dark pages, each for screens and phones."""

    title: str
    light: str
    """A ``data:`` address. As an image, not as markup: nothing in it can run."""
    dark: str
    light_narrow: str
    dark_narrow: str


def outcomes_over_time(summary: Summary) -> alt.Chart:
    """Calls by outcome over time."""
    import altair as alt  # noqa: PLC0415 - an extra

    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=summary.over_time), title="Calls over time, by outcome")
        .mark_bar(stroke=None, binSpacing=1)
        .encode(
            x=alt.X("time:T", title=None, bin="binned"),
            x2="until:T",
            y=alt.Y("calls:Q", title="calls", stack=True, axis=_whole(alt)),
            color=_by_outcome(alt, summary.over_time),
        )
        .properties(width=_WIDTH, height=180)
    )
    return chart


def failures_by_tool(summary: Summary) -> alt.Chart:
    """Calls that did not work at once, by tool."""
    import altair as alt  # noqa: PLC0415 - an extra

    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=summary.by_tool), title="Calls that did not work at once, by tool")
        .mark_bar()
        .encode(
            y=alt.Y("tool:N", title=None, sort="-x"),
            x=alt.X("calls:Q", title="calls", stack=True, axis=_whole(alt)),
            color=_by_outcome(alt, summary.by_tool),
        )
        .properties(width=_WIDTH)
    )
    return chart


def tuning_front(tuned: Tuned) -> alt.Chart:
    """Failed calls against added latency: the policy in force, the tuned one, and what other weights would choose."""
    import altair as alt  # noqa: PLC0415 - an extra

    points = [
        {
            "failed": one.measures.failed + one.measures.cut_off,
            "latency": one.measures.added_latency,
            "policy": one.name,
            "beaten": _BEATEN[one not in tuned.front],
        }
        for one in tuned.candidates
    ]
    colours = [OUTCOMES["stopped"], OUTCOMES["recovered"], *_OTHERS]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=points), title="Policies on held-out runs")
        .mark_point(size=130, filled=True, opacity=0.85)
        .encode(
            x=alt.X("latency:Q", title="seconds of added latency"),
            y=alt.Y("failed:Q", title="failed and cut-off calls"),
            color=alt.Color("policy:N", title=None, sort=None, scale=alt.Scale(range=colours), legend=_below(alt)),
            shape=alt.Shape(
                "beaten:N", title=None, scale=alt.Scale(domain=_BEATEN, range=["circle", "cross"]), legend=_below(alt)
            ),
        )
        .properties(width=_WIDTH, height=260)
    )
    return chart


_BEATEN = ["not beaten", "beaten"]
_OTHERS = ["#8d80ad", "#f4a261", "#5b7c99", "#e9c46a", "#6c757d"]


def picture(chart: alt.Chart) -> Picture:
    """Draw a chart for light and dark pages."""
    import vl_convert  # noqa: PLC0415 - an extra

    wide = _drawable(chart.to_dict())
    narrow = _drawable(chart.properties(width=_NARROW).to_dict())
    for specification in (wide, narrow):
        specification["autosize"] = {"type": "fit-x", "contains": "padding"}  # all as wide, so letters are as large
    light, dark, light_narrow, dark_narrow = (
        _image(vl_convert.vegalite_to_svg(specification, config=_THEMES[theme]))
        for specification in (wide, narrow)
        for theme in ("light", "dark")
    )
    title = wide.get("title", "")
    return Picture(title if isinstance(title, str) else "", light, dark, light_narrow, dark_narrow)


def _drawable(part: Any) -> Any:
    """The specification without control characters: they are no XML, and the renderer ends the process over one."""
    match part:
        case str():
            return "".join(char if char.isprintable() else " " for char in part)
        case dict():
            return {_drawable(key): _drawable(value) for key, value in part.items()}
        case list():
            return [_drawable(item) for item in part]
        case _:
            return part


def _image(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _by_outcome(alt: Any, points: list[dict[str, Any]]) -> Any:
    there = {point["outcome"] for point in points}
    shown = {outcome: colour for outcome, colour in OUTCOMES.items() if outcome in there}
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    return alt.Color("outcome:N", title=None, scale=scale, legend=_below(alt))


def _whole(alt: Any) -> Any:
    """An axis for counts: there is no half a call."""
    return alt.Axis(tickMinStep=1, format="d", labelOverlap=True)


def _below(alt: Any) -> Any:
    """A legend under the chart, in rows that a phone can hold."""
    return alt.Legend(orient="bottom", columns=3)


def _theme(text: str, line: str) -> dict[str, Any]:
    axis = {"labelColor": text, "titleColor": text, "gridColor": line, "domainColor": line, "tickColor": line}
    return {
        "background": "transparent",
        "font": "system-ui, sans-serif",
        "view": {"stroke": "transparent"},
        "axis": axis,
        "legend": {"labelColor": text, "titleColor": text},
        "title": {"color": text, "anchor": "start"},
        "text": {"color": text},
    }


_THEMES = {"light": _theme("#333a41", "#dfe3e7"), "dark": _theme("#d5dae0", "#3a424b")}
