import json
import tomllib

import pytest

from otel_toolerrors.cli.codes import ExitCode
from otel_toolerrors.faults import load_rules
from otel_toolerrors.policy import load_policy
from tests.analysis.fleets import planted


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Traces whose findings propose changes to the policy, the rules and the catalog."""
    folder = tmp_path_factory.mktemp("fleet") / "parquet"
    planted("should_retry", "stale_hint", "overhead").export(folder)
    return folder


@pytest.fixture
def findings(command, fleet):
    """Findings that propose something, by the file they change."""
    found = json.loads(command("analyze", fleet, "--format", "json").out)["findings"]
    return {one["patch"]["target"]: one for one in reversed(found) if one["patch"]}


def test_one_finding_becomes_one_new_file(command, fleet, findings, tmp_path):
    """The file holds the proposed change and loads; nothing else is written."""
    said = command("apply", fleet, "--finding", findings["rules"]["id"], "--out", tmp_path / "new")
    (written,) = (tmp_path / "new").iterdir()
    assert said.code == ExitCode.DONE
    assert written.name == "toolerrors.rules.toml"
    assert load_rules(written)
    assert "+[[rule]]" in said.out.splitlines()
    assert f"toolerrors classify --rules {written}" in said.out


def test_without_a_name_all_changes_are_written(command, fleet, findings, tmp_path):
    """Each file that some finding wants to change is written, and the JSON names it."""
    said = json.loads(command("apply", fleet, "--out", tmp_path, "--format", "json").out)
    assert {"policy", "rules", "catalog"} == set(said["written"]) == set(findings)
    assert said["diff"]["policy"].startswith("--- /dev/null\n")


def test_the_policy_in_force_is_kept_and_compared(command, fleet, findings, tmp_path):
    """The new file holds what the old one says; the old one stays as it is; the difference names both."""
    old = tmp_path / "mine.toml"
    old.write_text("[retry]\nmax_attempts = 4\n")
    new = tmp_path / "new" / "toolerrors.toml"
    said = command("apply", fleet, "--finding", findings["policy"]["id"], "--policy", old, "--out", tmp_path / "new")
    assert load_policy(new).retry.max_attempts == 4
    assert old.read_text() == "[retry]\nmax_attempts = 4\n"
    assert f"--- {old}" in said.out
    assert f"toolerrors replay {fleet} --policy {new} --against {old}" in said.out


def test_a_file_that_exists_is_asked_for(command, fleet, tmp_path):
    """Without a terminal to ask, an existing file needs --force, and stays until then."""
    (tmp_path / "toolerrors.toml").write_text("# mine\n")
    said = command("apply", fleet, "--out", tmp_path)
    assert said.code == ExitCode.USAGE
    assert said.out == ""
    assert "overwrite with --force" in said.err
    assert ["toolerrors.toml"] == [path.name for path in tmp_path.iterdir()]
    assert ExitCode.DONE == command("apply", fleet, "--out", tmp_path, "--force").code
    assert tomllib.loads((tmp_path / "toolerrors.toml").read_text())


def test_an_unknown_finding_is_told_the_known_ones(command, fleet, findings, tmp_path):
    """A wrong id is answered with those that can be applied."""
    said = command("apply", fleet, "--finding", "00000000", "--out", tmp_path)
    assert said.code == ExitCode.USAGE
    assert findings["rules"]["id"] in said.err


def test_nothing_to_apply_is_said(command, recorded, tmp_path):
    """Traces whose findings propose nothing write nothing."""
    said = command("apply", recorded, "--out", tmp_path / "new")
    assert said.code == ExitCode.USAGE
    assert "nothing to write" in said.err
    assert not (tmp_path / "new").exists()


def test_a_base_that_cannot_be_read_is_a_sentence(command, fleet, tmp_path):
    """A policy in force that is no TOML stops before anything is written."""
    (tmp_path / "bad.toml").write_text("[[[")
    said = command("apply", fleet, "--policy", tmp_path / "bad.toml", "--out", tmp_path / "new")
    assert said.code == ExitCode.USAGE
    assert "bad.toml" in said.err
    assert not (tmp_path / "new").exists()
