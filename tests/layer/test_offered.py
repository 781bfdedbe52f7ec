import logging

import pytest

from otel_toolerrors.surface import Catalog, Suggestion
from otel_toolerrors.testing import Bench
from otel_toolerrors.vocabulary import ErrorSurfaced


@pytest.fixture
def bench():
    """A layer whose one suggestion names a tool that it does not know."""
    hint = Suggestion(id="ask-first", text="Ask helper first.", tools=("helper",))
    return Bench(catalog=Catalog(version="1", suggestion=(hint,)))


def test_suggestion_may_name_what_the_model_is_shown(bench):
    """A tool that a framework shows the model is as good as a registered one, until the run gives it up."""
    bench.tool("book", ValueError("no date"))
    with bench.layer.run() as run:
        before = run.call("book", {}).text
        run.offer(["helper", "book"])
        after = run.call("book", {}).text

    assert "Ask helper first." not in before
    assert "Ask helper first." in after
    assert ["book", "book,helper"] == [event.offered_tools for event in bench.of(ErrorSurfaced)]


def test_a_list_that_is_told_again_changes_nothing(bench, caplog):
    """A framework tells its tools before each request; a stale suggestion is warned of once for each list."""
    with caplog.at_level(logging.WARNING), bench.layer.run() as run:
        for _ in range(3):
            run.offer(["search"])

    assert 2 == len([record for record in caplog.records if "ask-first" in record.message])
