import json

from otel_toolerrors.cli.codes import ExitCode
from otel_toolerrors.policy import load_policy


def test_policy_file_is_written_and_loads(command, recorded, tmp_path):
    """Tuning writes a policy file that the layer can load, even if it changes nothing."""
    out = tmp_path / "tuned.toml"
    said = command("tune", recorded, "--out", out)
    assert said.code == ExitCode.DONE
    assert f"Written to {out}" in said.out
    load_policy(out)


def test_existing_file_is_not_overwritten(command, recorded, tmp_path):
    """A file that exists is kept, unless told otherwise."""
    out = tmp_path / "tuned.toml"
    out.write_text("# mine\n")
    said = command("tune", recorded, "--out", out)
    assert said.code == ExitCode.USAGE
    assert "overwrite it with --force" in said.err
    assert out.read_text() == "# mine\n"
    assert ExitCode.DONE == command("tune", recorded, "--out", out, "--force").code
    assert out.read_text() != "# mine\n"


def test_json_holds_the_policy_and_the_check(command, recorded, tmp_path):
    """For programs: the policy, each change with its reason, and what the held-out runs say."""
    tuned = json.loads(command("tune", recorded, "--out", tmp_path / "t.toml", "--format", "json").out)
    assert {"written", "toml", "changes", "refused", "candidates", "held_out"} == set(tuned)
    assert "in force" in [one["name"] for one in tuned["candidates"]]
    assert {"runs", "modelled", "before", "after"} == set(tuned["held_out"])


def test_patience_is_at_least_a_second(command, recorded, tmp_path):
    """Waiting cannot cost more than a failed call a second."""
    assert ExitCode.USAGE == command("tune", recorded, "--patience", "0", "--out", tmp_path / "t.toml").code


def test_bad_base_policy_is_a_sentence(command, recorded, tmp_path):
    """A base policy that cannot be read stops before anything is done."""
    said = command("tune", recorded, "--policy", tmp_path / "nowhere.toml", "--out", tmp_path / "t.toml")
    assert said.code == ExitCode.USAGE
    assert not (tmp_path / "t.toml").exists()
