import json
import unicodedata

import pytest

from otel_toolerrors.cli.codes import ExitCode


def _tear(folder):
    """Cut the last line of a trace file short, as a crash does."""
    file = next(folder.glob("*.jsonl"))
    file.write_bytes(file.read_bytes()[:-40])
    return file


def _break(folder):
    """Put a line that is no JSON in front of the others."""
    file = next(folder.glob("*.jsonl"))
    file.write_bytes(b"{not json\n" + file.read_bytes())
    return file


def test_report_for_people_is_plain_when_piped(command, traces):
    """What goes into a pipe holds no escape sequence and no line-drawing character."""
    said = command("analyze", traces)
    assert said.code == ExitCode.DONE
    assert said.out.startswith("3 runs, 6 calls: ")
    assert not [char for char in said.out if unicodedata.category(char) == "Cc" and char != "\n"]
    assert not [char for char in said.out if "\u2500" <= char <= "\u259f"]


def test_report_for_programs_is_json(command, traces):
    """JSON says what was read, what the calls came to, and every finding."""
    report = json.loads(command("analyze", traces, "--format", "json").out)
    assert {"path", "ingested", "runs", "calls", "findings", "quarantine"} == set(report)
    assert report["runs"] == 3
    assert sum(report["calls"].values()) == 6
    assert report["quarantine"] == []


def test_torn_last_line_is_named(command, traces):
    """A line that a crash cut is left out, named, and told by the exit code; the rest is analysed."""
    file = _tear(traces)
    said = command("analyze", traces)
    assert said.code == ExitCode.QUARANTINED
    assert f"{file}:" in said.out
    assert "the last line is not finished" in said.out
    assert "runs" in said.out.splitlines()[0]


def test_malformed_line_is_named(command, traces):
    """A malformed line is left out with file and line; everything after it is analysed."""
    file = _break(traces)
    said = command("analyze", traces)
    assert said.code == ExitCode.QUARANTINED
    assert f"{file}:1: not JSON" in said.out
    assert said.out.startswith("3 runs, 6 calls")


def test_quarantine_is_in_the_json(command, traces):
    """The JSON report names the lines that were left out, and the exit code says the same."""
    file = _break(traces)
    said = command("analyze", traces, "--format", "json")
    assert said.code == ExitCode.QUARANTINED
    assert [(str(file), 1)] == [(row["path"], row["line"]) for row in json.loads(said.out)["quarantine"]]


def test_codes_add_up(command, traces):
    """Findings and quarantined lines are told at the same time."""
    _break(traces)
    grave = command("analyze", traces, "--fail-on", "info")
    findings = json.loads(command("analyze", traces, "--format", "json").out)["findings"]
    expected = ExitCode.QUARANTINED | (ExitCode.FINDINGS if findings else ExitCode.DONE)
    assert expected == grave.code


@pytest.mark.parametrize("path", ["nowhere", "empty"])
def test_nothing_to_read_is_a_sentence(command, tmp_path, path):
    """A missing or empty folder is told with its name and what to do, without a traceback."""
    (tmp_path / "empty").mkdir()
    said = command("analyze", tmp_path / path)
    assert said.code == ExitCode.USAGE
    assert said.out == ""
    assert str(tmp_path / path) in said.err
    assert "Traceback" not in said.err


def test_unknown_severity_is_refused(command, traces):
    """A severity that does not exist is refused before anything is read."""
    assert ExitCode.USAGE == command("analyze", traces, "--fail-on", "grave").code


def test_database_is_kept(command, traces, tmp_path):
    """With a database, a second look reads nothing anew."""
    database = tmp_path / "kept.duckdb"
    command("analyze", traces, "--database", database)
    again = json.loads(command("analyze", traces, "--database", database, "--format", "json").out)
    assert again["ingested"]["spans"] == 0
    assert again["runs"] == 3
