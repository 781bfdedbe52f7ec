"""Proposed changes, written as TOML."""

import tomllib

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.analysis.patch import Change, Patch, Row, comment, document, leaves, merged, render

KEYS = st.text(min_size=1, max_size=12)
VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=20),
)


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, st.one_of(VALUES, st.lists(VALUES, max_size=3)), min_size=1)), KEYS)
def test_what_is_written_reads_back(tables, reason):
    """Whatever the keys, values and reasons hold, TOML gives the same document back."""
    changes = [Change((name, key), value, reason) for name, table in tables.items() for key, value in table.items()]

    assert tables == tomllib.loads(render(changes))
    assert document(changes) == tables
    assert dict(leaves(tables)) == {change.path: change.value for change in changes}


@given(st.text())
def test_a_reason_stays_a_comment(text):
    """Text from a trace cannot leave its comment and become a key."""
    assert {} == tomllib.loads(comment(text))
    assert all(line.startswith("#") for line in comment(text).split("\n"))


def test_each_number_stands_under_its_reason():
    """A reader finds the reason right above the number."""
    text = Patch("policy", (Change(("tools", "my tool", "retry", "max_attempts"), 5, "it pays"),)).toml()

    assert text == '[tools."my tool".retry]\n# it pays\nmax_attempts = 5\n'


def test_of_two_patches_the_first_wins():
    """Where two patches set one key, the graver finding's value is written; equal rows are written once."""
    row = Row("rule", {"code": "own.x"}, "")
    first = Patch("policy", (Change(("a",), 1, "first"), Change(("b",), 1)), (row,))
    second = Patch("policy", (Change(("a",), 2, "second"), Change(("c",), 3)), (row,))
    both = merged([first, second, Patch("rules", (Change(("d",), 4),))], "policy")

    assert {"a": 1, "b": 1, "c": 3} == document(both.changes)
    assert both.rows == (row,)


def test_lists_of_two_patches_are_joined():
    """Two stale hints are both left out, each with its reason."""
    patches = [Patch("catalog", (Change(("without",), [name], f"{name} is stale"),)) for name in ("a", "b", "a")]

    assert merged(patches, "catalog").changes == (Change(("without",), ["a", "b"], "a is stale; b is stale"),)


def test_what_toml_cannot_hold_is_refused():
    """A value without a spelling in TOML is an error, not a guess."""
    with pytest.raises(TypeError, match="cannot write object as TOML"):
        render([Change(("a",), object())])
