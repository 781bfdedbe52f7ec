import io
import json

import pytest

from otel_toolerrors.cli.codes import ExitCode

TRACEBACK = """Traceback (most recent call last):
  File "app.py", line 1, in <module>
    connect()
ConnectionRefusedError: [Errno 111] Connection refused
"""


@pytest.fixture
def pasted(command, monkeypatch):
    """Run ``toolerrors classify`` with a text on standard input, and read its JSON."""

    def paste(text, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        said = command("classify", *arguments)
        return json.loads(said.out) if said.out.startswith("{") else said

    return paste


def test_traceback(pasted):
    """A pasted traceback is classified by its last line."""
    fault = pasted(TRACEBACK, "--format", "json")
    assert ("transient", "connection.refused") == (fault["category"], fault["code"])


def test_answer_with_status_and_headers(pasted):
    """A 403 that says how long to wait is a rate limit."""
    fault = pasted(
        '{"message": "You have exceeded a secondary rate limit"}',
        *("--status", "403", "--header", "Retry-After: 7", "--format", "json"),
    )
    assert ("rate_limited", 7.0) == (fault["category"], fault["retry_after"])
    assert "status=permission" in fault["dissent"]


def test_status_needs_no_body(pasted):
    """A status alone is enough."""
    assert pasted("", "--status", "503", "--format", "json")["category"] == "transient"


def test_in_band_result(pasted):
    """A JSON result that reports an error in a known form is classified."""
    fault = pasted('{"isError": true, "content": [{"type": "text", "text": "file not found"}]}', "--format", "json")
    assert fault["category"] == "not_found"


def test_good_result_is_no_error(pasted):
    """A JSON result that merely looks busy is not an error."""
    said = pasted('{"items": [1, 2]}')
    assert said.code == ExitCode.DONE
    assert said.out.startswith("Not an error")


def test_expression(pasted):
    """An expression is evaluated, its modules imported."""
    fault = pasted("", "--expr", "httpx.ReadTimeout('x')", "--effects", "write", "--format", "json")
    assert ("timeout.read", False, "unknown") == (fault["code"], fault["retryable"], fault["side_effects"])


def test_report_for_people_names_the_signals(pasted):
    """Without --format, the decision is shown with what each signal said."""
    said = pasted("", "--status", "403", "--header", "Retry-After: 7")
    assert "What each signal says" in said.out
    assert "status  403" in said.out


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", (), "nothing to classify"),
        ("just words", (), "no exception found"),
        ("", ("--expr", "1/0"), "ZeroDivisionError"),
        ("", ("--expr", "42"), "gives int, not an exception"),
        ("", ("--expr", "no_such_module.Error()"), "no_such_module"),
        ("", ("--status", "700"), "700 is no HTTP status"),
        ("", ("--status", "403", "--header", "nonsense"), "write 'Name: value'"),
        (TRACEBACK, ("--rules", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(pasted, text, arguments, words):
    """Input that is none of the known forms is told, without a traceback."""
    said = pasted(text, *arguments)
    assert said.code == ExitCode.USAGE
    assert words in said.err
    assert "Traceback" not in said.err
