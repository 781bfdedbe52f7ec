"""Writing proposed changes to files."""

import tomllib

import pytest

from otel_toolerrors.analysis.apply import ApplyError, apply
from otel_toolerrors.analysis.patch import Change, Patch, Row
from otel_toolerrors.faults import load_rules
from otel_toolerrors.policy import load_policy
from otel_toolerrors.surface import default_catalog, load_catalog

MORE_ATTEMPTS = Patch("policy", (Change(("tools", "search", "retry", "max_attempts"), 5, "it pays"),))
FLAKY = {"code": "own.flaky", "category": "transient", "passing": True, "message": ["flaky"]}
RULE = Patch("rules", rows=(Row("rule", FLAKY, ""),))
RETIRED = Patch("catalog", (Change(("without",), ["missing.look"], "stale"),))


def test_each_target_has_its_file_and_its_reader_takes_it(tmp_path):
    """What is written loads as a policy, as rules and as a catalog."""
    policy, rules, catalog = apply([MORE_ATTEMPTS, RULE, RETIRED], tmp_path / "new")

    assert load_policy(policy).tools["search"].retry.max_attempts == 5
    assert [rule.code for rule in load_rules(rules)] == ["own.flaky"]
    assert load_catalog(catalog).version.startswith("patched+")


def test_a_retired_suggestion_is_gone(tmp_path):
    """The default catalog under a patched one no longer gives the hint."""
    retired = default_catalog().suggestion[0].id
    (path,) = apply([Patch("catalog", (Change(("without",), [retired], "stale"),))], tmp_path)

    assert retired not in [hint.id for hint in load_catalog(path).suggestion]


def test_a_file_that_exists_is_not_touched(tmp_path):
    """Nothing is overwritten without being asked, and nothing else is written either."""
    (tmp_path / "toolerrors.toml").write_text("# mine\n")

    with pytest.raises(ApplyError, match=r"toolerrors\.toml exists"):
        apply([RULE, MORE_ATTEMPTS], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["toolerrors.toml"]
    assert (tmp_path / "toolerrors.toml").read_text() == "# mine\n"


def test_the_file_in_force_is_kept_and_changed(tmp_path):
    """With a base, what is written holds the base's keys, rules and retirements, and the patch."""
    (tmp_path / "old.toml").write_text("[retry]\nmax_attempts = 4\n[tools.search.retry]\nmax_attempts = 2\n")
    rule = '[[rule]]\ncode = "own.first"\ncategory = "bug"\npassing = false\nnames = ["first"]\n'
    (tmp_path / "rules.toml").write_text(rule)
    (tmp_path / "catalog.toml").write_text('version = "3"\nwithout = ["a"]\n')
    bases = {"policy": tmp_path / "old.toml", "rules": tmp_path / "rules.toml", "catalog": tmp_path / "catalog.toml"}
    policy, rules, catalog = apply([MORE_ATTEMPTS, RULE, RETIRED], tmp_path / "new", bases=bases)

    assert load_policy(policy).retry.max_attempts == 4
    assert load_policy(policy).tools["search"].retry.max_attempts == 5
    assert [rule.code for rule in load_rules(rules)] == ["own.flaky", "own.first"]
    assert tomllib.loads(catalog.read_text()) == {"version": "3", "without": ["a", "missing.look"]}


@pytest.mark.parametrize(
    "patch",
    [
        Patch("policy", (Change(("retry", "max_attemps"), 5),)),
        Patch("policy", (Change(("retry", "max_attempts"), 0),)),
        Patch("rules", rows=(Row("rule", {"code": "Not A Code", "category": "bug", "passing": False}, ""),)),
    ],
)
def test_a_patch_that_its_reader_refuses_is_not_written(tmp_path, patch):
    """An invalid file never appears, not even for a moment under its own name."""
    with pytest.raises(ApplyError, match="nothing was written"):
        apply([patch], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_cannot_be_read_is_named(tmp_path):
    """The error names the file."""
    with pytest.raises(ApplyError, match=r"absent\.toml: cannot be read"):
        apply([MORE_ATTEMPTS], tmp_path, bases={"policy": tmp_path / "absent.toml"})


def test_of_two_rules_for_the_same_error_the_first_is_written(tmp_path):
    """Two findings may judge one error differently; the graver one wins, also over a rule that is in force."""
    also = Patch("rules", rows=(Row("rule", FLAKY | {"category": "bug", "passing": False}, ""),))
    (old,) = apply([also], tmp_path / "old")
    (new,) = apply([RULE, also], tmp_path / "new", bases={"rules": old})

    assert [("transient", True)] == [(rule.category, rule.passing) for rule in load_rules(new)]
