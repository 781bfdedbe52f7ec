"""The few shapes of Grafana panel that the dashboards use, as classic dashboard JSON (schema 42)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

SCHEMA_VERSION = 42
WIDTH = 24
"""Columns of Grafana's grid."""

PROMETHEUS = {"type": "prometheus", "uid": "prometheus"}
TEMPO = {"type": "tempo", "uid": "tempo"}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Query:
    """One PromQL expression, and what its lines are called."""

    expression: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: what it shows, why one looks at it, and the traces behind it."""

    title: str
    description: str
    queries: Sequence[Query]
    traces: str
    """TraceQL that finds the traces behind the panel."""
    kind: str = "timeseries"
    unit: str = "short"
    width: int = 12
    height: int = 8
    custom: Json = field(default_factory=dict)
    options: Json = field(default_factory=dict)

    def render(self, identifier: int, x: int, y: int) -> Json:
        """The panel as Grafana reads it, at a place of the grid."""
        instant = self.kind in {"stat", "bargauge", "table"}
        return {
            "id": identifier,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": PROMETHEUS,
            "gridPos": {"h": self.height, "w": self.width, "x": x, "y": y},
            "fieldConfig": {"defaults": {"unit": self.unit, "custom": self.custom}, "overrides": []},
            "options": self.options,
            "links": [{"title": "Traces behind this panel", "targetBlank": True, "url": explore(self.traces)}],
            "targets": [
                {
                    "refId": chr(ord("A") + number),
                    "datasource": PROMETHEUS,
                    "expr": query.expression,
                    "legendFormat": query.legend,
                    "instant": instant,
                    "range": not instant,
                    "exemplar": "_bucket" in query.expression,
                }
                for number, query in enumerate(self.queries)
            ],
        }


def stat(title: str, description: str, expression: str, traces: str, *, unit: str = "short") -> Panel:
    """One number."""
    return Panel(title, description, [Query(expression, title)], traces, kind="stat", unit=unit, width=4, height=4)


def stacked(title: str, description: str, queries: Sequence[Query], traces: str, *, unit: str = "ops") -> Panel:
    """Lines that add up to a whole."""
    custom = {"fillOpacity": 40, "lineWidth": 1, "stacking": {"group": "A", "mode": "normal"}}
    return Panel(title, description, queries, traces, unit=unit, custom=custom)


def timeline(title: str, description: str, query: Query, traces: str) -> Panel:
    """One row a line, filled while the line is above zero."""
    return Panel(
        title,
        description,
        [query],
        traces,
        kind="state-timeline",
        custom={"fillOpacity": 80, "lineWidth": 0},
        options={"mergeValues": True, "showValue": "never"},
    )


@dataclass(frozen=True, slots=True)
class Variable:
    """A choice at the top of a dashboard: the values that a label has."""

    name: str
    label: str
    values: str
    """``label_values`` query."""

    def render(self) -> Json:
        """The variable as Grafana reads it; "All" means no restriction, also where the label is missing."""
        return {
            "name": self.name,
            "label": self.label,
            "type": "query",
            "datasource": PROMETHEUS,
            "definition": self.values,
            "query": {"query": self.values, "refId": self.name},
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": ["All"], "value": ["$__all"]},
        }


def dashboard(uid: str, title: str, description: str, variables: Iterable[Variable], panels: Iterable[Panel]) -> Json:
    """A whole dashboard; panels flow from left to right and wrap."""
    placed = []
    x = y = row_height = 0
    for identifier, panel in enumerate(panels, start=1):
        if x + panel.width > WIDTH:
            x, y, row_height = 0, y + row_height, 0
        placed.append(panel.render(identifier, x, y))
        x += panel.width
        row_height = max(row_height, panel.height)
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["toolerrors"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [variable.render() for variable in variables]},
        "annotations": {"list": []},
        "links": [{"type": "dashboards", "tags": ["toolerrors"], "title": "Tool error recovery", "keepTime": True}],
        "panels": placed,
    }


def explore(traceql: str) -> str:
    """Link into Grafana's Explore that runs a TraceQL query over the panel's time range."""
    pane = {
        "datasource": TEMPO["uid"],
        "queries": [{"refId": "A", "datasource": TEMPO, "queryType": "traceql", "query": traceql, "limit": 50}],
        "range": {"from": "${__from}", "to": "${__to}"},
    }
    # Grafana fills in its ${variables} in a link only where they stand unquoted.
    parts = re.split(r"(\$\{[^}]+\})", json.dumps({"traces": pane}, separators=(",", ":")))
    panes = "".join(part if part.startswith("${") else quote(part) for part in parts)
    return f"/explore?schemaVersion=1&orgId=1&panes={panes}"
