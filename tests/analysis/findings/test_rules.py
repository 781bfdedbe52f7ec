"""Proposed classification rules, read by the classifier that is to use them."""

from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors import classify
from otel_toolerrors.analysis.findings.rules import literal, rule
from otel_toolerrors.faults import load_rules


class HTTPStatusError(Exception):
    """An error with a status, as HTTP clients raise it."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status_code = status


@pytest.mark.parametrize(
    ("message", "status", "category", "passing"),
    [
        ("404 Not Found: item 17 is being indexed", 404, "transient", True),
        ("500: template 'a' uses an unsupported feature", 500, "permanent", False),
    ],
)
def test_a_proposed_rule_changes_the_verdict(tmp_path, message, status, category, passing):
    """With the rule ahead of the default ones, the same error is what the outcomes say it is."""
    error = HTTPStatusError(message, status)
    before = classify(error)
    seen = SimpleNamespace(
        message=before.message, code=before.code, http_status=status, exception_type="HTTPStatusError"
    )
    path = tmp_path / "rules.toml"
    path.write_text(rule(seen, category, passing=passing, reason="seen").toml())
    after = classify(error, rules=load_rules(path))

    assert (before.category, before.passing) != (category, passing)
    assert (after.category, after.passing) == (category, passing)
    assert after.code.startswith("own.")


@given(st.text(max_size=200), st.text(max_size=20))
def test_whatever_a_message_holds_the_rule_can_be_read(tmp_path_factory, message, code):
    """Control characters, quotes and regular expressions in an error do not break the rule file."""
    seen = SimpleNamespace(message=message, code=code, http_status=None, exception_type="pkg.SomeError")
    path = tmp_path_factory.mktemp("rules") / "rules.toml"
    path.write_text(rule(seen, "bug", passing=False, reason=message).toml(), encoding="utf-8")

    assert len(load_rules(path)) == 1


@pytest.mark.parametrize(("message", "words"), [("", None), ("17", None), ("item 17 (x) is gone", r"\(x\) is gone")])
def test_a_rule_needs_words(message, words):
    """Only what stays the same from one occurrence to the next can tell an error from others."""
    assert words == literal(message)
