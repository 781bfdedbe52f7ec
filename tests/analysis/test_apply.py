"""Writing proposed changes to files."""

import tomllib
from copy import deepcopy

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.analysis.apply import ApplyError, apply
from otel_toolerrors.analysis.editing import edited
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


BASE = """\
# our policy; ask before you change it

[retry]  # every tool
max_attempts = 4  # four is enough
base_delay = 0.5

# search is slow
[tools.search]
effects = "read"

[tools.search.retry]
max_attempts = 2

# and this is the end
[breaker]
cooldown = 30.0
"""


def test_the_comments_and_the_order_of_the_base_stay(tmp_path):
    """Only lines that the patch is about change; the reason for each stands above it, and new tables come last."""
    (tmp_path / "old.toml").write_text(BASE)
    changes = [
        Change(("tools", "search", "retry", "max_attempts"), 5, "it pays"),
        Change(("retry", "jitter"), "full", "calls come together"),
        Change(("retry", "max_attempts"), 3, "few recover later"),
        Change(("services", "api", "breaker", "cooldown"), 60.0, "it reopened"),
    ]
    (path,) = apply([Patch("policy", tuple(changes))], tmp_path / "new", bases={"policy": tmp_path / "old.toml"})

    few, jitter, pays = "# few recover later\n", '# calls come together\njitter = "full"\n', "# it pays\n"
    expected = BASE.replace("max_attempts = 4", f"{few}max_attempts = 3")
    expected = expected.replace("base_delay = 0.5\n", f"base_delay = 0.5\n{jitter}")
    expected = expected.replace("max_attempts = 2", f"{pays}max_attempts = 5")
    assert f"{expected}\n[services.api.breaker]\n# it reopened\ncooldown = 60.0\n" == path.read_text()


def test_comments_stay_with_their_rules(tmp_path):
    """A new rule comes first, below the head of the file; a rule about the same error is changed where it stands."""
    head, first = (
        "# our rules\n\n",
        '# seen in spring\n[[rule]]\ncode = "own.first"\ncategory = "bug"\npassing = false\n',
    )
    first += 'names = ["first"]  # by its name\n'
    flaky = (
        '\n[[rule]]\ncode = "own.old"\ncategory = "bug"\npassing = false\nwhy = "it looked so"\nmessage = ["flaky"]\n'
    )
    (tmp_path / "rules.toml").write_text(head + first + flaky)
    new = {"code": "own.new", "category": "transient", "passing": True, "message": ["new"]}
    patch = Patch("rules", rows=(Row("rule", FLAKY, "it passes"), Row("rule", new, "nobody knew it")))
    (path,) = apply([patch], tmp_path / "new", bases={"rules": tmp_path / "rules.toml"})

    added = (
        '# nobody knew it\n[[rule]]\ncode = "own.new"\ncategory = "transient"\npassing = true\nmessage = ["new"]\n\n'
    )
    changed = (
        '\n# it passes\n[[rule]]\ncode = "own.flaky"\ncategory = "transient"\npassing = true\nmessage = ["flaky"]\n'
    )
    assert head + added + first + changed == path.read_text()


def test_a_list_grows_where_it_stands(tmp_path):
    """What the base retires stays retired, with the comment that says why."""
    (tmp_path / "catalog.toml").write_text('version = "3"\nwithout = [\n  "a",  # of no use\n]\n')
    (path,) = apply([RETIRED], tmp_path / "new", bases={"catalog": tmp_path / "catalog.toml"})

    without = 'without = [\n  "a",  # of no use\n  "missing.look",\n]\n'
    assert f'version = "3"\n# stale\n{without}' == path.read_text()


NAMES = st.sampled_from(["a", "b", "c d"])
STYLES = st.sampled_from(["header", "dotted", "inline"])


@st.composite
def bases_and_paths(draw):
    """A policy-like text in one of TOML's ways to write a table, what it says, and a path to set in it."""
    table = draw(st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(), min_size=1), min_size=1))
    style = draw(STYLES)
    lines = ["# head", ""]
    for name, keys in table.items():
        rows = [f'"{key}" = {value}' for key, value in keys.items()]
        if style == "header":
            lines += [f'[t."{name}"]  # {name}', *rows, "# a word", ""]
        elif style == "dotted":
            lines += [f't."{name}".{row}  # {name}' for row in rows]
        else:
            lines += [f't."{name}" = {{ {", ".join(rows)} }}  # {name}']
    return "\n".join(lines) + "\n", {"t": table}, draw(st.sampled_from(["t", "u"])), draw(NAMES), draw(NAMES)


@given(case=bases_and_paths(), value=st.integers())
def test_a_change_is_the_only_change(case, value):
    """However the base writes its tables, what is read back is the base with that key set, and no comment is lost."""
    text, document, *path = case
    after = edited(text, [Change(tuple(path), value, "why")], [])
    expected = deepcopy(document)
    expected.setdefault(path[0], {}).setdefault(path[1], {})[path[2]] = value

    assert expected == tomllib.loads(after)
    assert [] == [line for line in text.splitlines() if "#" in line and line.partition("#")[2] not in after]
