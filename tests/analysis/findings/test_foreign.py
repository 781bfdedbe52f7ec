"""Findings on traces that other instrumentations made."""

import json
from pathlib import Path

import pytest

from otel_toolerrors import analysis
from otel_toolerrors.policy import Policy

FILES = sorted((Path(__file__).parents[1] / "data").rglob("*.json*"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_findings_replay_and_tuning_take_any_trace(path):
    """Traces without our events give what they can, and no error."""
    traces = analysis.open(path)

    assert all(finding.title for finding in traces.findings())
    assert traces.replay(Policy(), replicas=1).duplicate_risk == 0
    assert traces.tune().changes == ()


def _calls(*errors: tuple[str | None, str | None, bool]) -> str:
    """Tool calls that pydantic-ai could have recorded, each a run of its own: type, message, whether it failed."""
    lines = []
    for number, (kind, message, failed) in enumerate(errors, start=1):
        pairs = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
        said = {"exception.type": kind, "exception.message": message}
        span = {
            "traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "execute_tool search",
            "startTimeUnixNano": str(number * 10**9), "endTimeUnixNano": str(number * 10**9 + 10**8),
            "attributes": _attributes(pairs), "status": {"code": 2} if failed else {},
            "events": [{"timeUnixNano": "1", "name": "exception", "attributes": _attributes(said)}] if failed else [],
        }  # fmt: skip
        lines.append(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    return "\n".join(lines) + "\n"


def _attributes(pairs):
    return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items() if value is not None]


@pytest.fixture
def found(tmp_path):
    """The unknown clusters in calls that failed with these errors."""

    def look(*errors):
        (tmp_path / "traces.jsonl").write_text(_calls(*errors))
        with analysis.open(tmp_path) as traces:
            return traces.findings(kinds=["unknown_cluster"])

    return look


def test_an_error_that_the_classifier_knows_by_type_or_text_is_no_unknown_one(found):
    """Nobody classified it when it happened; asked now, the classifier recognises what was recorded."""
    assert [] == found(*[("httpx.ReadTimeout", "timed out", True)] * 6, *[(None, "Connection refused", True)] * 6)


def test_an_error_that_says_nothing_is_no_cluster(found):
    """Calls that failed without type or message have nothing in common that a rule could name."""
    assert [] == found(*[(None, None, True)] * 20)


def test_an_error_that_no_rule_knows_is_reported_as_asked_now(found):
    """The finding does not claim that the classifier met it."""
    (finding,) = found(*[("acme.WidgetJam", "the widget is jammed at position 7", True)] * 6)
    assert "knows no rule for what was recorded of it; none was retried" in finding.explanation
    assert "the widget is jammed at position" in finding.patch.toml()
