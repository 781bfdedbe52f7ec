import json
import math
import re
import subprocess
from collections import Counter

import pytest
import yaml

from tests.real.conftest import Stack
from tests.real.parts import DASHBOARDS, installed

pytestmark = pytest.mark.real

EXPRESSIONS = {
    f"{board['uid']}: {panel['title']} {target['refId']}": target["expr"]
    for path in sorted(DASHBOARDS.glob("*.json"))
    for board in [json.loads(path.read_text())]
    for panel in board["panels"]
    for target in panel["targets"]
}
RULES = {
    rule["alert"]: rule["expr"]
    for group in yaml.safe_load((DASHBOARDS / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
}


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_every_panel_shows_something(stack: Stack, expression: str):
    """After the agents have worked, each expression of each dashboard gives numbers."""
    filled_in = expression.replace("$__rate_interval", "5m")
    for variable in ("$service", "$agent", "$tool"):
        filled_in = filled_in.replace(variable, ".*")
    assert "$" not in filled_in
    result = stack.prometheus.get("query", query=filled_in, time=str(stack.ended))["result"]
    assert result
    assert any(math.isfinite(float(one["value"][1])) for one in result)


@pytest.mark.parametrize("expression", RULES.values(), ids=RULES.keys())
def test_every_alert_watches_something_that_exists(stack: Stack, expression: str):
    """Without its threshold, each part of an alert's expression gives numbers."""
    for part in re.split(r"\bor\b", expression):
        watched = re.sub(r"(>|==)\s*[0-9.]+\s*$", "", part.strip())
        assert watched != part.strip()
        assert stack.prometheus.get("query", query=watched, time=str(stack.ended))["result"], watched


def test_prometheus_evaluates_every_alert(stack: Stack):
    """The rules are loaded as shipped, and none of them is in trouble."""
    rules = stack.prometheus.get("rules")["groups"][0]["rules"]
    assert set(RULES) == {rule["name"] for rule in rules}
    assert {"ok"} == {rule["health"] for rule in rules}


def test_alerts_fire_when_they_should():
    """The rules pass their unit tests in promtool."""
    done = subprocess.run(
        [installed("promtool", "prometheus"), "test", "rules", "alerts_test.yaml"],
        cwd=DASHBOARDS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_shipped_scrape_configuration_is_valid(stack: Stack):
    """It passes promtool."""
    config = stack.prometheus.log.with_name("prometheus.yaml")
    done = subprocess.run(
        [installed("promtool", "prometheus"), "check", "config", config], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_counted_is_what_was_answered(stack: Stack):
    """Calls derived from spans, over two processes, are the calls that the agents made."""
    result = stack.prometheus.get(
        "query",
        query='sum by (gen_ai_tool_name) (traces_span_metrics_calls_total{job="triage",toolerrors_outcome!=""})',
        time=str(stack.ended),
    )["result"]
    counted = {one["metric"]["gen_ai_tool_name"]: int(one["value"][1]) for one in result}
    expected = Counter(call["tool"].replace("made_up_by_the_model", "unknown") for call in stack.outcomes)
    assert expected == counted


def test_a_count_is_not_lost_between_batches(stack: Stack):
    """Every error that a model was shown is counted, in whichever batch it came."""
    shown = [call for call in stack.outcomes if call["outcome"] == "surfaced"]
    expression = 'sum(toolerrors_error_surfaced_total{job="triage"})'
    counted = stack.prometheus.get("query", query=expression, time=str(stack.ended))["result"][0]["value"][1]
    assert len(shown) == int(counted)


def test_a_latency_leads_to_its_trace(stack: Stack):
    """Exemplars carry the id of a trace that Jaeger can show."""
    found = stack.prometheus.get(
        "query_exemplars",
        query='traces_span_metrics_duration_seconds_bucket{job="triage"}',
        start=str(stack.ended - 600),
        end=str(stack.ended),
    )
    traces = {exemplar["labels"]["trace_id"] for series in found for exemplar in series["exemplars"]}
    assert traces
    assert traces <= {span["traceId"] for span in stack.jaeger.spans("triage")}
