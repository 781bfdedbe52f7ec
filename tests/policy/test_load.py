import contextlib

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.policy import Policy, PolicyError, load_policy, parse_policy


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[retry]\nmax_atempts = 3\n", "policy:2: unknown key 'retry.max_atempts'; did you mean 'max_attempts'?"),
        ("retrry = 1\n", "policy:1: unknown key 'retrry'; did you mean 'retry'?"),
        ("[retry]\nzzz = 1\n", "policy:2: unknown key 'retry.zzz'; known here: attempt_timeout, base_delay"),
        ("[retry]\nmax_attempts = 900\n", "policy:2: retry.max_attempts: input should be less than or equal to 100"),
        (
            "[retry]\nbase_delay = -1\n",
            "policy:2: retry.base_delay: input should be greater than or equal to 0 (is -1)",
        ),
        ("[retry]\nbase_delay = nan\n", "policy:2: retry.base_delay: input should be a finite number"),
        ("\n\n[tools.x]\n\neffects = 'raed'\n", "policy:5: tools.x.effects: input should be 'read'"),
        ("[tools.x.retry]\njitter = 'some'\n", "policy:2: tools.x.retry.jitter: input should be"),
        ("[[tools.a.fallback]]\ntool='b'\n[[tools.a.fallback]]\ntool='c'\nqualty=''", "policy:5: unknown key"),
        ("[tools.a]\nfallback = [{tool = 'a'}]\n", "tools.a.fallback names 'a' itself"),
        ("[services.s.breaker]\nmode = 'x'\n", "policy:2: services.s.breaker.mode"),
        ("[run]\nstop_on = ['everything']\n", "policy:2: run.stop_on.0: input should be"),
        ("x = [", "policy: not TOML"),
    ],
)
def test_every_mistake_is_named_with_its_line_and_its_fix(text, says):
    """The error says where, what, and what would be right."""
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert says in str(caught.value)


def test_all_mistakes_are_told_at_once():
    """One line a problem."""
    with pytest.raises(PolicyError) as caught:
        parse_policy("[retry]\nmax_atempts = 3\nbase_delay = -1\n")
    assert 2 == len(str(caught.value).splitlines())


def test_missing_file_is_named(tmp_path):
    """A path that leads nowhere is an error, never a silent default."""
    with pytest.raises(PolicyError, match=r"nowhere\.toml: cannot read the policy"):
        load_policy(tmp_path / "nowhere.toml")


def test_file_that_is_no_text_is_named(tmp_path):
    """So is one that is not UTF-8."""
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="cannot read the policy"):
        load_policy(path)


def test_file_is_read(tmp_path):
    """What the file says holds; what it does not say keeps its default."""
    path = tmp_path / "policy.toml"
    path.write_text("[retry]\nmax_attempts = 5\n", encoding="utf-8")
    policy = load_policy(path)
    assert (5, 0.5) == (policy.retry.max_attempts, policy.retry.base_delay)


@given(st.text(max_size=200))
def test_no_text_crashes_the_reader(text):
    """It is a policy, or a PolicyError."""
    with contextlib.suppress(PolicyError):
        assert isinstance(parse_policy(text), Policy)


def test_digest_names_the_content():
    """Equal policies have equal digests, however they were written; other ones have others."""
    written = parse_policy("[retry]\nmax_attempts = 3\n[run]\nstop_on = ['exhausted', 'permission']")
    assert Policy().digest == written.digest
    assert Policy().digest != parse_policy("[retry]\nmax_attempts = 4").digest
    assert 16 == len(Policy().digest)


def test_a_changed_copy_has_a_digest_of_its_own():
    """What is copied with a change is named anew, also when the original's digest had been read."""
    policy = Policy()
    assert policy.digest != policy.model_copy(update={"mode": "observe"}).digest
    assert policy.digest == policy.model_copy().digest
