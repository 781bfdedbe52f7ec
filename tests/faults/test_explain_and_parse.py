import traceback

import pytest

from otel_toolerrors.faults.explain import explain
from otel_toolerrors.faults.parse import fault_from_body, fault_from_traceback


def test_an_explanation_names_the_rule_and_every_signal():
    """A person reads what decided, why, and what the others said."""

    class ApiError(Exception):
        status_code = 403

    found = explain(ApiError("connection timed out"), effects="write")
    text = "\n".join(found.lines())

    assert found.rule is not None
    assert "http.403" == found.rule.code
    assert "decided by status (certain)" in text
    assert found.rule.why in text
    assert "message   weak     transient" in text


def test_an_explanation_of_an_unknown_error_says_so():
    """No rule, no invented reason."""
    found = explain(Exception("?"))

    assert found.rule is None
    assert found.lines()[0].startswith("unknown")


def test_a_pasted_traceback_is_read_with_its_cause():
    """The last exception decides, its cause where it says nothing."""
    try:
        try:
            raise ConnectionResetError(104, "Connection reset by peer")
        except OSError as error:
            raise RuntimeError("backend failed") from error
    except RuntimeError:
        pasted = traceback.format_exc()

    fault = fault_from_traceback(pasted, effects="write")

    assert ("transient", "connection.reset", False) == (fault.category, fault.code, fault.retryable)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("botocore.errorfactory.ThrottlingException: Rate exceeded", "rate_limit"),
        ("httpx.ReadTimeout: The read operation timed out", "timeout.read"),
        ("psycopg.errors.UniqueViolation: duplicate key value", "db.constraint"),
    ],
)
def test_the_last_line_of_a_traceback_is_enough(line, code):
    """Class names and words are all that a paste has."""
    assert code == fault_from_traceback(line).code


def test_text_without_an_exception_is_refused_with_what_to_do():
    """The error says what to paste."""
    with pytest.raises(ValueError, match="paste a traceback"):
        fault_from_traceback("all is well")


def test_an_error_body_with_its_status_and_headers():
    """The body's code decides over the status, the header says how long to wait."""
    quota = fault_from_body('{"error": {"type": "insufficient_quota"}}', status=429)
    limit = fault_from_body("Too Many Requests", status=429, fields={"Retry-After": "12"})

    assert ("permanent", None) == (quota.category, quota.retry_after)
    assert ("rate_limited", 12.0) == (limit.category, limit.retry_after)
    with pytest.raises(ValueError, match="no HTTP status"):
        fault_from_body("x", status=700)
