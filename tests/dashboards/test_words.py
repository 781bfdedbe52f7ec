"""Collector, dashboards and alerts use the words of the vocabulary, and no others."""

import json
import re
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from dashboards.build import rendered
from dashboards.series import COUNTED_EVENTS, REPEATED, REPEATED_LABELS, SPAN_DIMENSIONS, label, series, unknown_words
from otel_toolerrors.vocabulary import EVENTS, METRICS, SPANS, CallOutcome, CallSpan, attributes_of, metrics

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "collector" / "config.yaml").read_text())

BOARDS = {path.name: json.loads(path.read_text()) for path in sorted((ROOT / "dashboards").glob("*.json"))}
PANELS = {f"{name}: {panel['title']}": panel for name, board in BOARDS.items() for panel in board["panels"]}
ALERTS = {
    rule["alert"]: rule
    for group in yaml.safe_load((ROOT / "dashboards" / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
}
SPAN_KEYS = {attribute.key for span in SPANS for attribute in attributes_of(span).values()}
EVENT_KEYS = {attribute.key for event in EVENTS for attribute in attributes_of(event).values()}
OUR_WORDS = SPAN_KEYS | EVENT_KEYS | {event.NAME for event in EVENTS} | {metric.name for metric in METRICS} | {REPEATED}


@pytest.mark.parametrize(
    ("path", "text"), list(rendered()), ids=lambda value: value.name if isinstance(value, Path) else ""
)
def test_the_dashboards_are_as_the_code_makes_them(path: Path, text: str):
    """Run ``python -m dashboards.build`` if this fails."""
    assert text == path.read_text()


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS.keys())
def test_a_panel_reads_only_what_exists(panel: dict):
    """Every series and label in its expressions is produced by the collector or the layer."""
    assert [] == [word for target in panel["targets"] for word in unknown_words(target["expr"])]


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS.keys())
def test_an_alert_reads_only_what_exists(alert: dict):
    """Every series and label in its expression is produced by the collector or the layer."""
    assert [] == unknown_words(alert["expr"])


@pytest.mark.parametrize(
    "expression",
    [
        "sum(rate(toolerrors_retries_total{}[5m]))",
        'sum(rate(toolerrors_retry_scheduled_total{toolerrors_state="x"}[5m]))',
        "sum by (toolerrors_state) (rate(toolerrors_retry_scheduled_total{}[5m]))",
        "sum(rate(toolerrors_retry_scheduled_total[5m]))",
    ],
)
def test_an_unknown_word_is_found(expression: str):
    """A series, a matcher and a grouping that nothing produces are told, and so is a selector without braces."""
    assert unknown_words(expression)


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS.keys())
def test_a_panel_says_what_it_is_for_and_leads_to_traces(panel: dict):
    """It has a description, and a link that runs a TraceQL query made of words that exist."""
    assert len(panel["description"]) > 20 or panel["title"] == "Errors by code"
    (link,) = panel["links"]
    panes = json.loads(unquote(parse_qs(urlsplit(link["url"]).query)["panes"][0]))
    query = panes["traces"]["queries"][0]["query"]
    assert query.startswith("{ ")
    assert query.endswith(" }")
    assert query.count('"') % 2 == 0
    assert set(re.findall(r"span\.([\w.]+)", query)) <= SPAN_KEYS
    assert set(re.findall(r"event\.([\w.]+)", query)) <= EVENT_KEYS
    assert set(re.findall(r'event:name = "([^"]*)"', query)) <= {event.NAME for event in EVENTS}


def test_every_dashboard_can_be_found_and_provisioned():
    """Schema 42, a fixed uid of its own, the service variable, and no panel on top of another."""
    assert len(BOARDS) == len({board["uid"] for board in BOARDS.values()})
    for board in BOARDS.values():
        assert board["schemaVersion"] == 42
        assert "service" in {variable["name"] for variable in board["templating"]["list"]}
        cells = [
            (x, y)
            for panel in board["panels"]
            for place in [panel["gridPos"]]
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]
        assert len(cells) == len(set(cells))
        assert max(x for x, _ in cells) < 24


def test_span_metrics_has_the_dimensions_that_the_dashboards_know():
    """The collector's configuration and the table agree."""
    assert list(SPAN_DIMENSIONS) == [one["name"] for one in CONFIG["connectors"]["span_metrics"]["dimensions"]]


def test_the_count_connector_counts_the_events_that_the_dashboards_know():
    """Names, conditions and labels in the collector's configuration agree with the table."""
    expected = {
        event.NAME: ([f'spanevent.name == "{event.NAME}"'], [attributes_of(event)[field].key for field in fields])
        for event, fields in COUNTED_EVENTS.items()
    }
    counted = {
        name: (metric["conditions"], [one["key"] for one in metric["attributes"]])
        for name, metric in CONFIG["connectors"]["count"]["spanevents"].items()
    }
    assert expected == counted
    repeated = CONFIG["connectors"]["count"]["spans"][REPEATED]
    assert set(REPEATED_LABELS) == {one["key"] for one in repeated["attributes"]}


def test_no_event_goes_uncounted_for_want_of_an_attribute():
    """The connector skips an event that lacks a label, so each one is always there or has a default."""
    counted = CONFIG["connectors"]["count"]["spanevents"]
    for event, fields in COUNTED_EVENTS.items():
        defaults = {one["key"] for one in counted[event.NAME]["attributes"] if "default_value" in one}
        for field in fields:
            optional = "None" in str(event.__annotations__[field])
            assert not optional or attributes_of(event)[field].key in defaults


def test_the_collector_names_only_words_of_the_vocabulary():
    """Every ``toolerrors.*`` and ``gen_ai.*`` name in its configuration exists, except content that it deletes."""
    text = (ROOT / "collector" / "config.yaml").read_text()
    named = set(re.findall(r"(?<![\w./-])(?:toolerrors|gen_ai)\.[a-z_.]*[a-z_]", text))
    assert "gen_ai.tool.name" in named
    assert named <= OUR_WORDS


def test_redaction_by_name_masks_no_word_of_the_vocabulary():
    """The patterns for secret names do not hit an attribute of ours."""
    patterns = CONFIG["processors"]["redaction"]["blocked_key_patterns"]
    assert not [key for key in SPAN_KEYS | EVENT_KEYS for pattern in patterns if re.search(pattern, key)]


def test_sampling_keeps_every_outcome_but_a_plain_one():
    """The policy names every way a call can end, except ``ok``."""
    (policy,) = (one for one in CONFIG["processors"]["tail_sampling"]["policies"] if one["name"] == "not-plain")
    assert policy["string_attribute"]["key"] == attributes_of(CallSpan)["outcome"].key
    assert set(get_args(CallOutcome)) - {"ok"} == set(policy["string_attribute"]["values"])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (metrics.CALLS, "toolerrors_calls_total"),
        (metrics.CALL_DURATION, "gen_ai_execute_tool_duration_seconds"),
        (metrics.BREAKER_STATE, "toolerrors_breaker_state_ratio"),
        (metrics.INJECTED_TOKENS, "toolerrors_injected_tokens"),
    ],
)
def test_a_metric_is_called_in_prometheus_as_opentelemetry_says(metric: metrics.Metric, expected: str):
    """Suffixes for unit and type, as the collector adds them."""
    assert expected == series(metric)
    assert label(metric.name) in expected
