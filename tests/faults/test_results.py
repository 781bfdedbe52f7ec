import subprocess
import sys
from types import SimpleNamespace

import pytest

from otel_toolerrors.faults import classify_result


@pytest.mark.parametrize(
    ("value", "category", "code"),
    [
        ({"error": "Customer 17 not found"}, "not_found", "not_found"),
        ({"error": {"code": 429, "message": "Too many requests", "retry_after": 12}}, "rate_limited", None),
        ({"error": {"code": 403, "status": "PERMISSION_DENIED"}}, "permission", "auth.denied"),
        ({"ok": False, "error": "channel_not_found"}, "not_found", "not_found"),
        ({"success": False, "message": "Invalid date range"}, "validation", "arguments"),
        ({"status": "error", "code": "UNAVAILABLE"}, "transient", "service.unavailable"),
        ({"statusCode": 503, "body": "Service Unavailable"}, "transient", "http.503"),
        ({"isError": True, "content": [{"type": "text", "text": "permission denied"}]}, "permission", "auth.denied"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}, "validation", "jsonrpc.arguments"),
        (
            {"data": None, "errors": [{"message": "no", "extensions": {"code": "FORBIDDEN"}}]},
            "permission",
            "auth.denied",
        ),
        ({"Deleted": [], "Errors": [{"Key": "a", "Code": "AccessDenied"}]}, "permission", "auth.denied"),
        ('{"error": {"type": "authentication_error"}}', "permission", "auth.credentials"),
        ("Error: ENOENT: no such file or directory, open 'x'", "not_found", "not_found"),
        ((None, "connection refused"), "transient", "connection.refused"),
        (SimpleNamespace(content="limit must be at most 100", status="error"), "validation", "arguments"),
        (SimpleNamespace(isError=True, content=[SimpleNamespace(text="timed out")]), "transient", "timeout"),
        (SimpleNamespace(status_code=404, headers={}), "not_found", "http.404"),
        (TimeoutError("an exception that was returned"), "transient", "timeout"),
    ],
)
def test_an_error_that_comes_back_as_a_value(value, category, code):
    """Each shape that a protocol uses for errors is recognised, and read like an exception."""
    fault = classify_result(value)

    assert fault is not None
    assert category == fault.category
    assert code is None or code == fault.code


@pytest.mark.parametrize(
    "value",
    [
        None,
        False,
        True,
        0,
        503,
        "",
        [],
        {},
        (),
        b"Error",
        "How to fix 'connection timed out'",
        {"error": None, "data": 1},
        {"error": ""},
        {"errors": [], "data": {}},
        {"error": 0.02, "estimate": 4},
        {"status": "ok", "error_count": 3},
        {"id": 503, "title": "Permission denied"},
        ["12:00 ERROR 503", "recovered"],
        (1, "x"),
        (None, None),
        {"status": "open"},
        [{"status": 503}],
        {"isError": False, "content": []},
        SimpleNamespace(status_code=200, headers={}),
        "Errors happen",
        '{"id": 1}',
        "[1, 2",
        {"success": True, "message": "not found in cache"},
    ],
)
def test_what_only_speaks_of_errors_is_none(value):
    """Logs, documents, tickets and empty error fields are results."""
    assert classify_result(value) is None


def test_a_finished_process_with_an_exit_status():
    """Its error stream is the text."""
    script = "import sys; sys.exit('API rate limit exceeded')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)

    fault = classify_result(done, effects="write")

    assert fault is not None
    assert ("rate_limited", False) == (fault.category, fault.retryable)
    assert "rate limit" in fault.message
