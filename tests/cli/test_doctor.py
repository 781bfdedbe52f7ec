import json
import os
import socket

import pytest

from otel_toolerrors.cli.codes import ExitCode
from tests.analysis.fleets import planted

PREFIX = "OTEL_"


@pytest.fixture
def clean(monkeypatch, tmp_path):
    """An environment that says nothing about telemetry, in an empty folder."""
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return monkeypatch


@pytest.fixture
def checks(command, clean):  # noqa: ARG001 - the environment is emptied
    """Run the doctor; give its exit code, and its checks by name."""

    def run(*arguments):
        said = command("doctor", *arguments, "--format", "json")
        return said.code, {check["name"]: check for check in json.loads(said.out)}

    return run


def test_nothing_set_up_is_well(checks):
    """An empty folder and a silent environment are fine: files would be written, and a test call arrives."""
    code, found = checks()
    assert code == ExitCode.DONE
    assert {"fail"} & {check["level"] for check in found.values()} == set()
    assert "its retry and" in found["delivery"]["told"]
    assert "fail-closed defaults" in found["policy"]["told"]


def test_nothing_is_left_behind(checks, tmp_path):
    """Looking changes nothing: no folder, no file."""
    checks()
    assert list(tmp_path.iterdir()) == []


def test_every_fault_has_a_fix(checks, clean, tmp_path):
    """What failed names what to do, on the screen and for programs."""
    clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    clean.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3")
    clean.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    (tmp_path / "toolerrors.toml").write_text("[retry]\nmax_atempts = 1\n")
    (tmp_path / "toolerrors.catalog.toml").write_text("version = 1\n")
    code, found = checks()
    assert code == ExitCode.FINDINGS
    levels = {name: check["level"] for name, check in found.items() if check["level"] != "ok"}
    assert levels == {
        "exporter": "fail",
        "delivery": "fail",
        "sampler": "warn",
        "limits": "fail",
        "policy": "fail",
        "catalog": "fail",
    }
    assert all(found[name]["fix"] for name in levels)
    assert "max_attempts" in found["policy"]["told"]


def test_fixes_are_shown_to_people(command, clean):
    """The table has a line for each fix."""
    clean.setenv("OTEL_SDK_DISABLED", "true")
    said = command("doctor")
    assert said.code == ExitCode.FINDINGS
    assert "fix: unset OTEL_SDK_DISABLED" in said.out
    assert "failed" in said.out.splitlines()[-1]


def test_a_listener_that_speaks_no_otlp_is_found_out(checks, clean):
    """Something listens at the endpoint, but does not take what is sent."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        clean.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        clean.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        clean.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.3")
        code, found = checks()
    assert code == ExitCode.FINDINGS
    assert found["exporter"]["level"] == "ok"
    assert found["delivery"]["level"] == "fail"


def test_a_warning_counts_if_asked(checks, clean):
    """With --strict, a warning is enough for the exit code."""
    clean.setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", "4")
    assert ExitCode.DONE == checks()[0]
    assert ExitCode.FINDINGS == checks("--strict")[0]


def test_suggestions_of_tools_that_are_gone_are_named(checks, tmp_path):
    """A catalog that names a tool which recent runs did not offer is stale."""
    planted("stale_hint").export(tmp_path / "traces")
    hint = '[[suggestion]]\nid = "gone.find"\ntext = "Use find_item."\ntools = ["find_item"]\n'
    (tmp_path / "mine.toml").write_text(f'version = "1"\n{hint}')
    _, found = checks(tmp_path / "traces", "--catalog", tmp_path / "mine.toml")
    assert found["catalog"]["level"] == "warn"
    assert "gone.find names find_item" in found["catalog"]["told"]


def test_a_program_is_asked_whether_it_traces(checks, clean, tmp_path):
    """A module that sets up nothing, or cannot be imported, is told."""
    (tmp_path / "silent_app.py").write_text("")
    (tmp_path / "broken_app.py").write_text("raise RuntimeError('no database')\n")
    clean.syspath_prepend(tmp_path)
    assert "warn" == checks("--app", "silent_app")[1]["application"]["level"]
    code, found = checks("--app", "broken_app")
    assert code == ExitCode.FINDINGS
    assert "RuntimeError: no database" in found["application"]["told"]


def test_a_folder_that_cannot_be_written_fails(checks, tmp_path):
    """A file where the folder should be is found before the agent runs."""
    (tmp_path / "file").write_text("")
    code, found = checks(tmp_path / "file" / "traces")
    assert code == ExitCode.FINDINGS
    assert found["trace files"]["level"] == "fail"
