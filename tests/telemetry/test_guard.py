"""The last guard: what may go into OpenTelemetry, and what may come out of us."""

from dataclasses import dataclass
from enum import Enum, StrEnum

import pytest
from hypothesis import given, strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider

from otel_toolerrors.telemetry.guard import LIMIT, Stencil, render
from otel_toolerrors.vocabulary.attributes import attribute


@dataclass
class Record:
    """Something with two attributes."""

    value: str = attribute("x", "Anything.", "anything")
    other: str | None = attribute("y", "Something else.", "anything", default=None)


def rendered(value):
    """How a value arrives."""
    return render(Record(value))["x"]


class Colour(StrEnum):
    """Text that is not quite text."""

    RED = "red"


class Half(float):
    """A number that is not quite a number."""


class Number(Enum):
    """No scalar at all."""

    ONE = 1


class Hostile:
    """Something that must not be asked for its text."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


@pytest.mark.parametrize("value", ["text", "", 7, -(2**63), 2**63 - 1, 1.5, True, False])
def test_scalars_pass_unchanged(value):
    """What every exporter can carry is not touched."""
    assert rendered(value) is value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("über 日本", "über 日本"),
        ("half \ud800 a pair", "half ? a pair"),
        (2**63, "0x8000000000000000"),
        (Colour.RED, "red"),
        (Half(0.5), 0.5),
        (Number.ONE, "<Number>"),
        (b"bytes", "<bytes>"),
        (["a"], "<list>"),
        ({"a": 1}, "<dict>"),
        (Hostile(), "<Hostile>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_rest_becomes_something_harmless(value, expected):
    """Whatever is no valid, flat scalar is replaced by one, and never asked for its text."""
    assert rendered(value) == expected


def test_text_is_cut_with_a_mark():
    """Long text ends with a visible mark, and is not longer than the limit."""
    text = rendered("x" * (LIMIT + 1))
    assert len(text) == LIMIT
    assert text.endswith("…[cut]")
    assert rendered("x" * LIMIT) == "x" * LIMIT


def test_none_is_left_out():
    """A field that is None is no attribute."""
    assert render(Record("a")) == {"x": "a"}


@given(st.text(), st.none() | st.text(), st.booleans())
def test_a_stencil_gives_what_rendering_gives(value, other, same):
    """Which fields are rendered once and which for every record makes no difference."""
    stencil = Stencil(Record, value=value) if same else Stencil(Record, other=other)
    filled = stencil.filled(other=other) if same else stencil.filled(value=value)
    assert filled == render(Record(value, other))
    assert stencil.filled(value="another", other=None)["x"] == "another"
    assert stencil.filled().get("x") == (rendered(value) if same else None)


def test_a_stencil_knows_its_fields():
    """A field that the record has not is a mistake, and no attribute."""
    with pytest.raises(KeyError, match="z"):
        Stencil(Record).filled(z="?")


@given(
    st.one_of(
        st.text(st.characters(codec=None), max_size=50),  # lone surrogates included
        st.integers(),
        st.floats(),
        st.booleans(),
        st.binary(max_size=10),
        st.lists(st.integers(), max_size=3),
        st.dictionaries(st.text(max_size=3), st.none(), max_size=3),
    )
)
def test_every_value_can_be_exported(value):
    """No value that reaches a span makes the standard exporter refuse the batch it is in."""
    span = TracerProvider(shutdown_on_exit=False).get_tracer("test").start_span("x")
    span.set_attributes(render(Record(value)))
    span.end()
    request = encode_spans([span])
    assert len(request.resource_spans[0].scope_spans[0].spans[0].attributes) == 1
    assert request.SerializeToString()
