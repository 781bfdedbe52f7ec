import pytest

from otel_toolerrors.surface import CatalogError, default_catalog, load_catalog
from otel_toolerrors.testing import Bench
from otel_toolerrors.vocabulary import ErrorSurfaced

OWN = """
version = "7"
[[suggestion]]
id = "config.use-find"
category = "not_found"
tool = "read_*"
text = "Use find_file to look the path up."
tools = ["find_file"]
"""


@pytest.fixture
def own(tmp_path):
    """A user's catalog file."""
    path = tmp_path / "catalog.toml"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.mark.parametrize("category", ["not_found", "validation", "bug", "permanent", "permission", "unknown"])
def test_default_catalog_has_a_word_for_each_category(category):
    """Whatever is surfaced comes with a hint."""
    assert category in {hint.category for hint in default_catalog().suggestion}


def test_default_catalog_names_no_tools():
    """It fits any agent, so it cannot be stale."""
    assert {} == default_catalog().stale([])


def test_own_suggestions_come_first(own):
    """A user's catalog is put ahead of the default one, and both versions are named."""
    catalog = load_catalog(own)
    assert "7+2026.11" == catalog.version
    assert "config.use-find" == catalog.suggestion[0].id
    assert len(default_catalog().suggestion) + 1 == len(catalog.suggestion)


def test_own_catalog_can_stand_alone(own):
    """The default one can be left out."""
    assert 1 == len(load_catalog(own, alone=True).suggestion)


def test_same_id_replaces_the_default(tmp_path):
    """An override by id changes one hint and keeps the others."""
    path = tmp_path / "catalog.toml"
    path.write_text('version="1"\n[[suggestion]]\nid="bug.other-way"\ntext="Ask Platform."\n', encoding="utf-8")
    texts = [hint.text for hint in load_catalog(path).suggestion if hint.id == "bug.other-way"]
    assert ["Ask Platform."] == texts


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version = 1", "version"),
        ("[[suggestion]]", "version"),
        ('version="1"\n[[suggestion]]\nid="a"', "suggestion.0.text"),
        ('version="1"\n[[suggestion]]\nid="a"\ntext="x"\ncategory="wrong"', "suggestion.0.category"),
        ('version="1"\n[[suggestion]]\nid="a"\ntext="x"\nwhen="x"', "suggestion.0.when"),
        ('version="1"\n[[suggestion]]\nid="a"\ntext="x"\n[[suggestion]]\nid="a"\ntext="y"', "used twice: a"),
        ("version", "not TOML"),
    ],
)
def test_a_bad_catalog_is_refused_with_its_place(tmp_path, text, says):
    """The file and the entry are named."""
    path = tmp_path / "catalog.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load_catalog(path)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


def test_missing_catalog_is_named(tmp_path):
    """No silent default."""
    with pytest.raises(CatalogError, match="cannot read"):
        load_catalog(tmp_path / "none.toml")


def surfaced(own, tools, **policy):
    """Fail ``read_config`` once in a run that offers ``tools``, and give the event and the text."""
    bench = Bench(catalog=load_catalog(own), **policy)
    bench.tool("read_config", FileNotFoundError(2, "no such file"), effects="read")
    for tool in tools:
        bench.tool(tool, "ok", effects="read")
    with bench.layer.run() as run:
        text = run.call("read_config").text
    return bench.of(ErrorSurfaced)[0], text


def test_a_suggestion_whose_tools_are_offered_is_shown(own):
    """The hint and the tools that it names are recorded."""
    event, text = surfaced(own, ["find_file"])
    assert "Use find_file" in text
    assert "find_file" == event.suggested_tools
    assert event.suggestions.startswith("config.use-find,")
    assert event.dropped_suggestions is None


def test_a_stale_suggestion_is_left_out_and_recorded(own):
    """A hint that names a tool which is not there would mislead; its id is in the event."""
    event, text = surfaced(own, [])
    assert "find_file" not in text
    assert "config.use-find" == event.dropped_suggestions
    assert "not-found.check-identifier" == event.suggestions
