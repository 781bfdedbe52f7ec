"""The list of errors: whoever recorded them, and what the classifier makes of each."""

import json

import pytest

from otel_toolerrors import analysis
from otel_toolerrors.analysis.report import report
from otel_toolerrors.analysis.report.errors import errors
from tests.analysis.fleets import planted

SECRET = "sk-ant-api03-" + "A1b2C3d4" * 10


@pytest.fixture
def foreign(tmp_path):
    """Traces of failed calls that another instrumentation recorded: exception types and messages."""

    def make(*told: tuple[str | None, str | None]) -> analysis.Traces:
        lines = [json.dumps(_request(number, *one)) for number, one in enumerate(told, start=1)]
        (tmp_path / "traces.jsonl").write_text("\n".join(lines) + "\n")
        return analysis.open(tmp_path)

    return make


def _request(number, kind, message):
    said = {"exception.type": kind, "exception.message": message}
    span = {
        "traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "execute_tool search",
        "startTimeUnixNano": str(number * 10**9), "endTimeUnixNano": str(number * 10**9 + 10**8),
        "attributes": _attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}),
        "status": {"code": 2},
        "events": [{"timeUnixNano": "1", "name": "exception", "attributes": _attributes(said)}],
    }  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def _attributes(pairs):
    return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items() if value is not None]


def test_errors_of_others_are_inferred_from_type_and_text(foreign):
    """What nobody classified is classified now, and marked so."""
    with foreign(*[("httpx.ReadTimeout", "timed out")] * 3, (None, "Connection refused")) as traces:
        first, second = errors(traces).shown
    assert ("transient", True, 3) == (first.category, first.inferred, first.calls)
    assert ("transient", True, 1) == (second.category, second.inferred, second.calls)


def test_calls_that_say_nothing_are_counted_and_taught(foreign):
    """Failures without type and message are no list of unknowns: the page says what to record."""
    with foreign(*[(None, None)] * 4) as traces:
        found, page = errors(traces), report(traces)
    assert ([], 4) == (found.shown, found.silent)
    assert "record_exception" in page
    assert "tokens injected" not in page
    assert "recorded by other instrumentations" in page


def test_a_secret_in_a_foreign_message_does_not_reach_the_page(foreign):
    """What others recorded is redacted before it is shown."""
    with foreign(("RuntimeError", f"bad key {SECRET}")) as traces:
        assert SECRET not in report(traces)


def test_errors_of_the_layer_keep_what_was_decided():
    """An error that the layer classified is shown as it was then, with how many calls got over it."""
    found = errors(planted("should_retry")).shown
    assert not any(one.inferred or one.silent for one in found)
    assert {"http.404", "connection.reset"} <= {one.code for one in found}
    assert sum(one.recovered for one in found) > 0


def test_traces_without_tool_calls_say_so(tmp_path):
    """A page about nothing tells which conventions are looked for."""
    request = _request(1, None, None)
    request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = []
    (tmp_path / "traces.jsonl").write_text(json.dumps(request) + "\n")
    with analysis.open(tmp_path) as traces:
        assert "No tool call is among these spans" in report(traces)
