"""What is kept of texts that came before: never what it says, only how fast."""

import gc
import weakref

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors import classify
from otel_toolerrors.faults import redaction
from otel_toolerrors.faults.memo import Memo
from otel_toolerrors.faults.redaction import may_be_kept
from otel_toolerrors.faults.rules import RuleSet, default_rules

TEXTS = st.one_of(
    st.text(max_size=80),
    st.sampled_from([
        "HTTP 503 Service Unavailable", "rate limit reached, try again in 20s", "password=hunter2hunter2 was refused",
        "WRONGTYPE Operation against a key", "no such table: users", "connection reset by peer",
    ]),
)  # fmt: skip


def test_a_memo_forgets_everything_when_it_is_full():
    """It never holds more than it has room for, and gives what it is given."""
    memo = Memo[int, str](3)
    assert ["0", "1", "2", "3"] == [memo.keep(n, str(n)) for n in range(4)]
    assert {3: "3"} == memo


@given(TEXTS, st.sampled_from([RuntimeError, ValueError, OSError, KeyError]))
def test_a_text_that_came_before_means_the_same(text, kind):
    """A fault is equal whether its text is met for the first time, again, or by rules that have forgotten."""
    rules = RuleSet(default_rules())
    first, again = (classify(kind(text), rules=rules) for _ in range(2))
    rules.heard.clear()
    redaction.clean.clear()
    assert first == again == classify(kind(text), rules=rules)


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2hunter2 was refused",
        "GET https://me:s3cr3t-s3cr3t@db.internal failed",
        pytest.param(f"{'why ' * 166}password=hunter2hunter2{' not' * 120}", id="where a text is cut"),
    ],
)
def test_a_text_with_a_secret_is_not_kept(text):
    """What redaction has to change stays in no memory of ours."""
    rules = RuleSet(default_rules())
    classify(RuntimeError(text), rules=rules)
    assert not may_be_kept(text)
    assert not rules.heard
    assert not any(text in key for key in redaction.clean)


def test_texts_do_not_pile_up():
    """Thousands of different texts leave no more than the memory has room for, and long ones nothing."""
    rules = RuleSet(default_rules())
    for number in range(3_000):
        classify(RuntimeError(f"job {number} failed"), rules=rules)
    classify(RuntimeError("x " * 5_000), rules=rules)
    assert len(rules.heard) <= rules.heard.room
    assert max(len(text) for text, _ in redaction.clean) <= redaction.LIMIT
    assert len(redaction.clean) <= redaction.clean.room


def test_a_class_made_on_the_fly_can_go():
    """What its names say is forgotten with the class."""
    rules = RuleSet(default_rules())
    kind = type("ReadTimeout", (Exception,), {})
    assert "timeout.read" == classify(kind("late"), rules=rules).code
    gone = weakref.ref(kind)
    del kind
    gc.collect()
    assert gone() is None
