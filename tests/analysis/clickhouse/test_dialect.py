"""The shared SQL, as ClickHouse reads it."""

import pytest

from otel_toolerrors.analysis.clickhouse.dialect import bind, render, render_view

RENDERED = {
    "SELECT list(a ORDER BY b DESC, c) FILTER (WHERE d) AS e FROM t": (
        "SELECT arrayMap(x -> tupleElement(x, 3), arraySort(groupArray(tuple(-(b), c, a)) FILTER (WHERE d))) "
        "AS e FROM t"
    ),
    "SELECT list(a) FROM t": "SELECT arrayMap(x -> tupleElement(x, 1), arraySort(groupArray(tuple(a)))) FROM t",
    'SELECT f.code, f."index" FROM f': 'SELECT f.code AS code , f."index"  AS "index" FROM f',
    "SELECT f.*, f.a + f.b, f.a AS c FROM f": "SELECT f.*, f.a + f.b, f.a AS c FROM f",
    "SELECT 'list(a)', \"md5\" -- md5(a)": "SELECT 'list(a)', \"md5\" \n",
    r"SELECT regexp_replace(a, '\.tool$', '')": r"SELECT replaceRegexpOne(a, '\\.tool$', '')",
    "SELECT regexp_replace(a, '[0-9]+', '#', 'g')": "SELECT replaceRegexpAll(a, '[0-9]+', '#')",
    "SELECT TRY_CAST(m['a'] AS BIGINT)": "SELECT accurateCastOrNull(m['a'], 'BIGINT')",
    "SELECT left(md5(concat(a, ':')), 16)": (
        "SELECT left(lower(hex(MD5(concat(ifNull(toString(a), ''), ifNull(toString(':'), ''))))), 16)"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("query", "rendered"), RENDERED.items(), ids=range(len(RENDERED)))
def test_rendering(query, rendered):
    """The few functions that differ are rendered, and nothing else is touched."""
    assert rendered == render(query)


def test_union_by_name():
    """Columns are put side by side by their names; what a branch lacks is NULL of the other's type."""
    columns = {
        "SELECT a, b FROM t": {"a": "Int64", "b": "Array(String)"},
        "SELECT a, c FROM u": {"a": "Int64", "c": "Bool"},
    }
    query = "WITH t AS (SELECT 1 UNION ALL BY NAME SELECT 2) SELECT a, b FROM t UNION ALL BY NAME SELECT a, c FROM u"
    common = "WITH t AS (SELECT 1 UNION ALL BY NAME SELECT 2) "
    described = render_view(query, lambda asked: columns[asked.removeprefix(common).strip()])

    assert [
        'SELECT "a", "b", CAST(NULL AS Nullable(Bool)) AS "c" FROM (SELECT a, b FROM t )',
        "UNION ALL",
        'SELECT "a", CAST(NULL AS Array(String)) AS "b", "c" FROM ( SELECT a, c FROM u)',
    ] == described.removeprefix(common).splitlines()


def test_parameters_are_named_and_typed():
    """Values never enter the text; a question mark within a string is none."""
    assert ("SELECT {p0:Float64}, '?', {p1:String}", {"p0": 1.5, "p1": "a'b"}) == bind("SELECT ?, '?', ?", [1.5, "a'b"])


def test_a_value_of_no_known_type_is_refused():
    """What has no plain type in SQL is not turned into text unasked."""
    with pytest.raises(ValueError, match="a NoneType cannot be bound; known: bool, int, float, str"):
        bind("SELECT ?", [None])


@pytest.mark.parametrize("query", ["SELECT (1", "SELECT 1)"])
def test_unbalanced_parentheses_are_refused(query):
    """No part of a query is dropped in silence."""
    with pytest.raises(ValueError, match="parenthes"):
        render(query)


def test_a_missing_parameter_is_refused():
    """Too few values are an error that says so."""
    with pytest.raises(ValueError, match="2 question marks, and 1 values"):
        bind("SELECT ?, ?", [1])
