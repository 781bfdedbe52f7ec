"""Every day a few examples of what `make fuzz` tries for minutes: see ``targets.py``."""

import pytest
from hypothesis import given, settings, strategies as st

from tests.fuzz.targets import PROPERTIES, READERS, SLOW, seeds

DAILY = {"ingest": 8, "careful": 25}
"""Examples of the slower ones; the others have fifty."""


@st.composite
def damaged(draw, name):
    """Sound input with a part of it replaced, or bytes that are nothing."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.binary(max_size=200))
    sound = draw(st.sampled_from(seeds(name)))
    start, length = draw(st.integers(0, len(sound))), draw(st.integers(0, 50))
    return sound[:start] + draw(st.binary(max_size=20)) + sound[start + length :]


@pytest.mark.parametrize("name", READERS)
def test_damaged_input_is_answered(name):
    """A reader of bytes keeps its promise whatever the bytes are."""

    @settings(SLOW if name == "ingest" else settings(), max_examples=DAILY.get(name, 50))
    @given(damaged(name))
    def check(data):
        READERS[name](data)

    check()


@pytest.mark.parametrize("name", READERS)
def test_sound_input_is_answered(name):
    """The seeds themselves pass: what is changed from them begins as something real."""
    for seed in seeds(name):
        READERS[name](seed)


@pytest.mark.parametrize("name", PROPERTIES)
def test_structured_input_is_answered(name):
    """A property holds for a few examples."""
    PROPERTIES[name]()
