import json

from otel_toolerrors.cli.codes import ExitCode
from otel_toolerrors.policy import BreakerPolicy, BudgetPolicy, RetryPolicy, RunPolicy, SurfacePolicy


def test_every_default_names_its_source(command):
    """Each number of the defaults says where it comes from."""
    settings = {row["key"]: row for row in json.loads(command("policy", "explain", "--format", "json").out)}
    sections = {
        "retry": RetryPolicy, "breaker": BreakerPolicy, "budget": BudgetPolicy, "run": RunPolicy,
        "surface": SurfacePolicy,
    }  # fmt: skip
    keys = {f"{name}.{key}" for name, section in sections.items() for key in section.model_fields}
    assert keys <= set(settings)
    assert {key for key in keys if not settings[key]["from"].startswith("default (")} == set()


def test_file_and_tool_win(command, tmp_path):
    """What the file sets is attributed to it; for one tool, the section that had the last word is named."""
    file = tmp_path / "policy.toml"
    file.write_text(
        "[retry]\nmax_attempts = 5\n[tools.search.retry]\nbase_delay = 2.0\n"
        "[sources.title.retry]\nbase_delay = 1.0\nmax_delay = 9.0\n"
    )
    said = command("policy", "explain", "--policy", file, "--tool", "search", "--source", "title", "--format", "json")
    settings = {row["key"]: (row["value"], row["from"]) for row in json.loads(said.out)}
    assert settings["retry.max_attempts"] == (5, str(file))
    assert settings["search from title: retry.base_delay"] == (2.0, f"{file} [tools.search.retry]")
    assert settings["search from title: retry.max_delay"] == (9.0, f"{file} [sources.title.retry]")
    assert settings["search from title: retry.max_attempts"] == (5, str(file))


def test_unknown_key_is_named_with_line_and_fix(command, tmp_path):
    """A key that does not exist is told with its line and the nearest that does."""
    file = tmp_path / "policy.toml"
    file.write_text("[retry]\nmax_atempts = 3\n")
    said = command("policy", "explain", "--policy", file)
    assert said.code == ExitCode.USAGE
    assert f"{file}:2: unknown key 'retry.max_atempts'; did you mean 'max_attempts'?" in said.err


def test_number_out_of_range_is_named(command, tmp_path):
    """A number out of range is told with its line and value."""
    file = tmp_path / "policy.toml"
    file.write_text("[retry]\nmax_attempts = 0\n")
    said = command("policy", "explain", "--policy", file)
    assert said.code == ExitCode.USAGE
    assert f"{file}:2: retry.max_attempts: " in said.err


def test_rules_are_listed_in_order(command):
    """The classification rules are listed for people and for programs, the same ones."""
    rules = json.loads(command("policy", "rules", "--format", "json").out)
    lines = command("policy", "rules").out.rstrip("\n").split("\n")[1:]
    assert [rule["code"] for rule in rules] == [line.split()[0] for line in lines]
