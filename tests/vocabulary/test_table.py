"""One table: telemetry, analysis and the reference page read the same dataclasses."""

import re
from dataclasses import fields

import pytest

from otel_toolerrors.vocabulary import (
    EVENTS,
    METRICS,
    SPANS,
    FaultClassified,
    RetryScheduled,
    attributes_of,
    to_attributes,
)

KEY = re.compile(r"^(gen_ai|toolerrors|http|error|exception)(\.[a-z0-9_]+)+$")
RECORDS = [*EVENTS, *SPANS]


@pytest.mark.parametrize("record", RECORDS)
def test_every_field_is_an_attribute(record):
    """Nothing is recorded that the table does not describe."""
    assert {field.name for field in fields(record)} == set(attributes_of(record))


@pytest.mark.parametrize("record", RECORDS)
def test_names_follow_the_conventions(record):
    """Lower case, dotted, in our own namespace or a standard one; examples have the declared type."""
    types = {"string": str, "int": int, "double": float, "boolean": bool}
    for attribute in attributes_of(record).values():
        assert KEY.match(attribute.key), attribute.key
        assert types[attribute.type] is type(attribute.example), attribute.key
        assert attribute.description.endswith((".", "…"))


def test_event_names_are_nouns_and_verbs():
    """toolerrors.<noun>.<verb>, each once."""
    names = [event.NAME for event in EVENTS]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"toolerrors\.[a-z]+\.[a-z]+", name) for name in names)


def test_one_key_has_one_type_everywhere():
    """A column or a label means the same wherever it stands."""
    types = {}
    for record in RECORDS:
        for attribute in attributes_of(record).values():
            assert attribute.type == types.setdefault(attribute.key, attribute.type), attribute.key


def test_metric_names_have_no_units_and_no_totals():
    """The back end adds those."""
    for metric in METRICS:
        assert not re.search(r"(_total|seconds|_ms|bytes)$", metric.name)


def test_metric_labels_are_known_attributes():
    """A label is an attribute of the table, or one of the few that only metrics have."""
    known = {attribute.key for record in RECORDS for attribute in attributes_of(record).values()}
    only_metrics = {"toolerrors.retry.outcome", "toolerrors.drop.reason", "toolerrors.breaker.state"}
    assert {label for metric in METRICS for label in metric.labels} <= known | only_metrics


def test_absent_values_are_not_exported():
    """None leaves no attribute behind."""
    event = RetryScheduled(tool="t", attempt=1, delay=0.5, basis="backoff", code="c", fingerprint="f")
    assert {
        "gen_ai.tool.name": "t",
        "toolerrors.attempt": 1,
        "toolerrors.retry.delay": 0.5,
        "toolerrors.retry.basis": "backoff",
        "toolerrors.code": "c",
        "toolerrors.fingerprint": "f",
    } == to_attributes(event)
    assert "http_status" in attributes_of(FaultClassified)
