from otel_toolerrors.analysis.findings import Finding, tested
from otel_toolerrors.analysis.statistics import at_most

FINDING = Finding(kind="x", severity="low", title="t", explanation="e")


def _of(episodes: int) -> tested.Tested:
    """No pass in so many episodes, tested against "a fifth passes"."""
    p_value = at_most(0, episodes, 0.2)
    return tested.Tested(p_value, FINDING, least=p_value)


def test_what_could_not_have_held_does_not_make_the_others_harder():
    """22 failures in a row count (p = 0.007) however many errors came too seldom to be tested at all."""
    assert [FINDING] == tested.significant([_of(22), *(_of(3) for _ in range(50))], 0.05)


def test_what_could_have_held_does():
    """Among many real tests, the same evidence is not enough."""
    others = [tested.Tested(0.9, least=0.0) for _ in range(50)]
    assert [] == tested.significant([_of(22), *others], 0.05)


def test_plain_findings_are_not_tested():
    """A finding that rests on counts is kept."""
    assert [FINDING] == tested.significant([FINDING, tested.Tested(0.9, least=0.0)], 0.05)
