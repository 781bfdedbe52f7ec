import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.policy import effects_from_hints

STRICTNESS = ["read", "idempotent", "write", "destructive"]
hints = st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint", "idempotentHint", "title"]), st.booleans())


@pytest.mark.parametrize(
    ("declared", "hints", "untrusted", "trusted"),
    [
        ("write", None, "write", "write"),
        ("write", {}, "write", "write"),
        ("write", {"title": "x"}, "write", "write"),
        ("write", {"readOnlyHint": True}, "write", "read"),
        ("write", {"readOnlyHint": False}, "destructive", "destructive"),
        ("write", {"readOnlyHint": False, "destructiveHint": False}, "write", "write"),
        ("write", {"idempotentHint": True}, "write", "idempotent"),
        ("read", {"destructiveHint": True}, "destructive", "destructive"),
        ("read", {"readOnlyHint": "yes"}, "read", "read"),
    ],
)
def test_annotations(declared, hints, untrusted, trusted):
    """A stranger can make us more careful, never less."""
    assert untrusted == effects_from_hints(declared, hints)
    assert trusted == effects_from_hints(declared, hints, trusted=True)


@given(st.sampled_from(STRICTNESS), hints)
def test_untrusted_hints_only_tighten(declared, hints):
    """Whatever the hints say."""
    assert STRICTNESS.index(effects_from_hints(declared, hints)) >= STRICTNESS.index(declared)
