"""The last good results: how many, how old, and which go first."""

from otel_toolerrors.engine import ResultCache


def test_the_least_recently_kept_goes_first():
    """It holds as many as it may; keeping one again makes it the youngest."""
    cache = ResultCache(size=2)
    for now, (digest, value) in enumerate([("a", 1), ("b", 2), ("a", 3), ("c", 4)]):
        cache.keep(digest, value, float(now))

    found = {digest: cache.recall(digest, 60, 3.0) for digest in "abc"}

    assert {"a": (3, 1.0), "b": None, "c": (4, 0.0)} == {
        digest: kept and (kept.value, kept.age) for digest, kept in found.items()
    }


def test_a_result_is_as_old_as_its_ttl_and_no_older():
    """The limit itself still counts."""
    cache = ResultCache()
    cache.keep("a", "x", 10.0)
    assert [True, False] == [cache.recall("a", 5, now) is not None for now in (15.0, 15.1)]
