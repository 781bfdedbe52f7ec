from types import FunctionType

import pytest

from tests.house.public_api import SNAPSHOT, public_names, render

WRITTEN = (FunctionType, classmethod, property, staticmethod, type)
NAMES = {name: public for name, public in public_names() if isinstance(public, WRITTEN)}


def test_public_names_are_those_of_the_snapshot():
    """A public name, argument or default changes on purpose only: `make api`, and a line in the changelog."""
    assert SNAPSHOT.read_text().splitlines() == list(render())


@pytest.mark.parametrize("name", NAMES)
def test_public_name_says_what_it_means(name):
    """Each public class, function, method and property has a docstring that somebody wrote."""
    written = NAMES[name].__doc__ or ""
    generated_by_dataclass = written.startswith(f"{name.rpartition('.')[2]}(")
    assert written.strip()
    assert not generated_by_dataclass
