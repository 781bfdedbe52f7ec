"""Our own Parquet by its address. ``file://`` stands in for ``s3://``: DuckDB takes both by the same road."""

import duckdb
import pytest

from otel_toolerrors.analysis import TraceSourceError

from .otlp_lines import event, fault, line, span


def _has_httpfs() -> bool:
    with duckdb.connect() as connection:
        try:
            connection.execute("LOAD httpfs")
        except duckdb.Error:
            return False
        return True


@pytest.fixture
def exported(tmp_path, load):
    """The address of an export of two spans and an event."""
    traces = load(line(span(1, events=[event(fault())]), span(2)))
    (tmp_path / "out").mkdir()  # a bucket has no folders to make
    traces.export(f"file://{tmp_path}/out")
    return f"file://{tmp_path}/out"


def test_what_was_exported_to_an_address_is_read_from_it(exported, open_traces):
    """All files under the prefix are read, spans and events."""
    traces = open_traces(exported)
    assert [(2, 1)] == traces.sql("SELECT (SELECT count(*) FROM spans), (SELECT count(*) FROM faults)").fetchall()
    assert (2, 2) == (traces.ingested.files, traces.ingested.spans)


def test_read_again_into_a_kept_database_it_doubles_nothing(exported, tmp_path, open_traces):
    """The files are read again, and all in them is known."""
    for spans, duplicates in ((2, 0), (0, 2)):
        traces = open_traces(exported, database=tmp_path / "kept.duckdb")
        assert (spans, duplicates) == (traces.ingested.spans, traces.ingested.duplicates)
        assert [(2, 1)] == traces.sql("SELECT (SELECT count(*) FROM spans), count(*) FROM span_events").fetchall()
        traces.close()


def test_one_file_may_be_named(exported, open_traces):
    """An address that ends in .parquet, with a pattern or without, is taken as it is."""
    assert 2 == open_traces(f"{exported}/spans/*/*/*.parquet").ingested.spans


def test_a_prefix_without_parquet_is_named(tmp_path, open_traces):
    """The message names the address and what to check."""
    with pytest.raises(TraceSourceError, match=r"nothing: holds no Parquet files.*check bucket and prefix"):
        open_traces(f"file://{tmp_path}/nothing")


def test_parquet_of_another_kind_is_refused(tmp_path, open_traces):
    """Nobody else's table is taken for traces."""
    duckdb.sql("SELECT 1 AS one").write_parquet(str(tmp_path / "other.parquet"))
    with pytest.raises(TraceSourceError, match=r"cannot be read: a Parquet file of another kind"):
        open_traces(f"file://{tmp_path}/other.parquet")


@pytest.mark.skipif(_has_httpfs(), reason="needs a DuckDB without the extension httpfs, and here it is installed")
@pytest.mark.parametrize("act", ["open", "export"])
def test_without_httpfs_it_says_how_to_get_it(act, load, open_traces):
    """Object storage needs an extension, which is not fetched behind the user's back."""
    traces = load(line(span(1)))
    with pytest.raises(TraceSourceError, match=r"s3://bucket/traces: needs DuckDB's extension httpfs.*INSTALL httpfs"):
        open_traces("s3://bucket/traces") if act == "open" else traces.export("s3://bucket/traces")
