"""The command around the pull; what it fetches is in ``tests/analysis/ingest/test_pull.py`` and ``tests/real``."""

from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("httpx", reason="needs the extra `pull`")

from otel_toolerrors.cli.codes import ExitCode, Unusable
from otel_toolerrors.cli.pull import duration, moment

NOW = datetime(2026, 11, 21, 12, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", "2026-11-21T10:50+00:00"),
        ("2d", "2026-11-19T12:20+00:00"),
        ("2026-11-01", "2026-11-01T00:00+00:00"),
        ("2026-11-01T08:00+02:00", "2026-11-01T06:00+00:00"),
    ],
)
def test_times_are_absolute_or_ago(text, expected):
    """A time is a date, with UTC if it names no zone, or how long ago."""
    assert datetime.fromisoformat(expected) == moment(text, NOW, "--since")


def test_how_long_ago_begins_with_a_window():
    """A repeated pull begins where the first one did, so that its first window is the same."""
    assert datetime(2026, 11, 21, 10, tzinfo=UTC) == moment("90m", NOW, "--since", align=HOUR)
    assert moment("90m", NOW + timedelta(minutes=5), "--since", align=HOUR) == moment("90m", NOW, "--since", align=HOUR)


@pytest.mark.parametrize("text", ["yesterday", "24", "0h", "h", "-3h"])
def test_other_texts_are_refused_with_an_example(text):
    """What is neither is answered with how to write it."""
    with pytest.raises(Unusable, match="as in 24h"):
        moment(text, NOW, "--since")
    with pytest.raises(Unusable, match="as in 24h"):
        duration(text, "--window")


def test_nobody_there_is_a_sentence(command, tmp_path):
    """A server that does not answer is told with its address, and nothing is written."""
    said = command("pull", "http://127.0.0.1:9", tmp_path / "traces")
    assert said.code == ExitCode.USAGE
    assert "http://127.0.0.1:9" in said.err
    assert "Is the server up?" in said.err
    assert not list((tmp_path / "traces").glob("*"))


def test_times_in_the_wrong_order_are_refused(command, tmp_path):
    """A pull of nothing is a mistake."""
    said = command("pull", "http://127.0.0.1:9", tmp_path, "--since", "1h", "--until", "2h")
    assert said.code == ExitCode.USAGE
    assert "is not before" in said.err


def test_a_header_without_a_colon_is_refused(command, tmp_path):
    """A header is written as in HTTP."""
    said = command("pull", "http://127.0.0.1:9", tmp_path, "--header", "token")
    assert said.code == ExitCode.USAGE
    assert "Name: value" in said.err
