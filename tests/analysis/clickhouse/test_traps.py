"""Where ClickHouse would answer otherwise than the standard, it does not."""

from tests.analysis.ingest.otlp_lines import call_record, line, span

from .conftest import Both

# Over a table of one row: n = 1, text = 'café', nothing = NULL.
ANSWERS = {
    "sum(n) FILTER (WHERE n > 1)": None,
    "max(n) FILTER (WHERE n > 1)": None,
    "quantile_cont(n, 0.5) FILTER (WHERE n > 1)": None,
    "count(*) FILTER (WHERE n > 1)": 0,
    "count(nothing)": 0,
    "quantile_cont(n, 0.5)": 1.0,
    "bool_or(n = 1)": True,
    "list(concat(text, nothing, '!') ORDER BY n DESC)": ["café!"],
    "max(char_length(text))": 4,
    "max(concat_ws('|', text, nothing, 'b'))": "café|b",
    "max(n / 2)": 0.5,
    "max(least(n, 2.0))": 1.0,
    "max(regexp_replace(text, '[a-f]', '#', 'g'))": "###é",
    "max(TRY_CAST(text AS BIGINT))": None,
    "max(left(md5(text), 8))": "07117fe4",
    "max(attributes['missing'])": None,
    "max(other.m)": None,
}


def test_traps(both):
    """What is missing is NULL, and functions mean the same in both."""
    pair: Both = both(line(span(1, call_record(), name="café")))
    query = f"""
WITH one AS (
  SELECT 1 AS n, name AS text, CASE WHEN name = '' THEN name END AS nothing, attributes FROM spans
)
SELECT {", ".join(ANSWERS)} FROM one LEFT JOIN (SELECT 2 AS m) other ON other.m = one.n"""  # noqa: S608 - our own words
    duck, click = (dict(zip(ANSWERS, traces.sql(query).fetchall()[0], strict=True)) for traces in pair)

    assert ANSWERS == duck
    assert ANSWERS == click


def test_edges_of_windows(both):
    """Before the first row and after the last there is NULL."""
    query = """
SELECT lag(name) OVER w, lead(start_ns) OVER w,
  sum(start_ns) OVER (ORDER BY span_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
FROM spans WINDOW w AS (ORDER BY span_id)"""
    for traces in both(line(span(1, call_record()))):
        assert [(None, None, None)] == traces.sql(query).fetchall()
