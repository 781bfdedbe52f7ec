import json

from otel_toolerrors.cli.codes import ExitCode


def test_fewer_attempts_recover_fewer_calls(command, recorded, tmp_path):
    """Replay tells what the traces would have come to under a policy without retries."""
    (tmp_path / "once.toml").write_text("[retry]\nmax_attempts = 1\n")
    said = json.loads(command("replay", recorded, "--policy", tmp_path / "once.toml", "--format", "json").out)
    assert said["against"]["recovered"]["value"] == 1
    assert said["policy"]["recovered"]["value"] == 0
    assert said["policy"]["modelled"] == 0


def test_what_cannot_be_judged_is_said(command, recorded, tmp_path):
    """A change to what the model is told makes no difference to a replay, which says so."""
    (tmp_path / "quiet.toml").write_text("[surface]\nsuggestions = 0\n")
    said = command("replay", recorded, "--policy", tmp_path / "quiet.toml")
    assert said.code == ExitCode.DONE
    assert "what the model is told, it cannot judge" in said.out


def test_a_bad_policy_is_a_sentence(command, recorded, tmp_path):
    """A policy that cannot be used is told with its line."""
    (tmp_path / "bad.toml").write_text("[retry]\nmax_atempts = 1\n")
    said = command("replay", recorded, "--policy", tmp_path / "bad.toml")
    assert said.code == ExitCode.USAGE
    assert "did you mean 'max_attempts'" in said.err
