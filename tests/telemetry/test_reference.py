"""The reference page of the vocabulary."""

from pathlib import Path
from typing import get_args

import pytest

from otel_toolerrors.telemetry import Rotation
from otel_toolerrors.telemetry.guard import LIMIT
from otel_toolerrors.telemetry.instrumentor import OBSERVERS
from otel_toolerrors.telemetry.outbox import CAPACITY, LINGER
from otel_toolerrors.telemetry.setup import TRACES_DIR
from otel_toolerrors.vocabulary import EVENTS, METRICS, SPANS, VERSION, attributes_of, words
from otel_toolerrors.vocabulary.reference import render

PAGE = Path(__file__).parents[2] / "docs" / "telemetry.md"


def test_the_page_is_current():
    """docs/telemetry.md is what the vocabulary says now; `make docs-reference` writes it."""
    assert render() == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("record", [*SPANS, *EVENTS], ids=lambda record: record.__name__)
def test_every_attribute_is_on_the_page(record):
    """Each attribute has a row with its type, cardinality, description and example."""
    page = render()
    for attribute in attributes_of(record).values():
        rows = [line for line in page.splitlines() if line.startswith(f"| `{attribute.key}` |")]
        assert any(attribute.cardinality in row.split(" | ")[2] for row in rows)


def test_every_metric_and_value_is_on_the_page():
    """Each metric with its unit, and each member of each closed set."""
    page = render()
    assert all(f"### `{metric.name}`" in page and f"unit `{metric.unit}`" in page for metric in METRICS)
    members = {member for alias in vars(words).values() for member in get_args(alias)}
    assert {member for member in members if f"- `{member}`" not in page} == set()
    assert f"Version **{VERSION}**" in page


def test_the_page_names_the_real_limits():
    """The numbers in the prose are those of the code."""
    page = " ".join(render().split())
    assert f"Text is cut at {LIMIT} characters" in page
    assert f"up to {CAPACITY} spans wait" in page
    assert f"at most {LINGER} s later" in page
    assert f"finished at {Rotation().max_bytes // 2**20} MiB or after a day" in page
    assert Rotation().max_age == 24 * 3600
    assert f"`{TRACES_DIR}/`" in page
    assert f"group `{OBSERVERS}`" in page
