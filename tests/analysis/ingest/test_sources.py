"""Where traces are, what limits hold, and errors that name the place and the fix."""

import duckdb
import pytest

from otel_toolerrors import analysis
from otel_toolerrors.analysis import TraceSourceError
from otel_toolerrors.analysis.ingest import ingest

from .otlp_lines import event, fault, line, lines, span


def test_a_missing_file_is_named(tmp_path):
    """The message names the path."""
    with pytest.raises(TraceSourceError, match=r"nowhere.jsonl: no such file"):
        analysis.open(tmp_path / "nowhere.jsonl")


def test_an_empty_folder_is_named(tmp_path):
    """The message names the folder and what it should hold."""
    with pytest.raises(TraceSourceError, match=r"holds no trace files .*\.jsonl"):
        analysis.open(tmp_path)


def test_a_glob_that_matches_nothing_is_named(tmp_path):
    """The message names the pattern."""
    with pytest.raises(TraceSourceError, match=r"\*\.jsonl: the pattern matches no file"):
        analysis.open(f"{tmp_path}/*.jsonl")


def test_a_folder_is_read_with_its_folders_and_rotated_files(tmp_path, open_traces):
    """What looks like traces is read: other files and hidden ones are not."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "traces.jsonl").write_bytes(lines(1))
    (tmp_path / "traces.jsonl.1").write_bytes(lines(1, 1))
    (tmp_path / "deep" / "traces-2026-11-21T10-00-00.000.json").write_bytes(lines(1, 2))
    (tmp_path / "README.md").write_text("# Traces")
    (tmp_path / ".hidden.jsonl").write_bytes(lines(1, 3))
    assert (3, 3, 0) == (
        (done := open_traces(tmp_path).ingested).files,
        done.spans,
        done.quarantined,
    )


def test_a_glob_and_a_name_with_a_quote(tmp_path, open_traces):
    """A path is data, whatever characters it has."""
    (tmp_path / "it's.jsonl").write_bytes(lines(2))
    assert 2 == open_traces(f"{tmp_path}/*.jsonl").ingested.spans
    assert 2 == open_traces(tmp_path / "it's.jsonl").ingested.spans


def test_a_kept_database_opens_again_for_reading(tmp_path, open_traces):
    """Opened by its own name it is read, not written, and has all the views."""
    (tmp_path / "traces.jsonl").write_bytes(line(span(1, events=[event(fault())])))
    database = tmp_path / "kept.duckdb"
    open_traces(tmp_path / "traces.jsonl", database=database).close()
    traces = open_traces(database)
    assert [(1,)] == traces.sql("SELECT count(*) FROM faults").fetchall()
    with pytest.raises(TraceSourceError, match="is a database already"):
        analysis.open(database, database=tmp_path / "other.duckdb")


def test_a_database_of_an_earlier_version_lacks_columns_and_opens(tmp_path, open_traces):
    """What the earlier version did not know is NULL."""
    (tmp_path / "traces.jsonl").write_bytes(line(span(1, events=[event(fault())])))
    database = tmp_path / "kept.duckdb"
    open_traces(tmp_path / "traces.jsonl", database=database).close()
    with duckdb.connect(str(database)) as connection:
        for view in ("faults", "events"):
            connection.execute(f"DROP VIEW {view}")
        connection.execute('ALTER TABLE span_events DROP COLUMN "toolerrors.signal.dissent"')
    earlier = open_traces(database)
    assert [("timeout.read", None)] == earlier.sql("SELECT code, dissent FROM faults").fetchall()
    earlier.close()
    (tmp_path / "more.jsonl").write_bytes(line(span(2, events=[event(fault(dissent="status=bug"))])))
    traces = open_traces(tmp_path / "more.jsonl", database=database)
    assert [(None,), ("status=bug",)] == traces.sql("SELECT dissent FROM faults ORDER BY 1 NULLS FIRST").fetchall()


def test_a_foreign_database_is_an_error(tmp_path):
    """A DuckDB file without our tables is named as such."""
    duckdb.connect(str(tmp_path / "other.duckdb")).close()
    with pytest.raises(TraceSourceError, match="not of traces"):
        analysis.open(tmp_path / "other.duckdb")


def test_a_database_in_use_is_an_error(tmp_path, open_traces):
    """Somebody else's lock is told, with a way out."""
    (tmp_path / "traces.jsonl").write_bytes(lines(1))
    (tmp_path / "kept.duckdb").write_bytes(b"no database at all, but long enough to be taken for one " * 100)
    with pytest.raises(TraceSourceError, match=r"kept\.duckdb: cannot be opened"):
        open_traces(tmp_path / "traces.jsonl", database=tmp_path / "kept.duckdb")


@pytest.mark.parametrize("name", ["memory_limit", "disk_limit"])
def test_a_limit_that_is_no_size_is_an_error(name, tmp_path):
    """The message names the setting, and shows one that works."""
    (tmp_path / "traces.jsonl").write_bytes(lines(1))
    with pytest.raises(TraceSourceError, match="'2GB'"):
        analysis.open(tmp_path / "traces.jsonl", **{name: "plenty"})


def test_a_limit_that_cannot_be_met_is_an_error(tmp_path):
    """Running out of memory and disk says what to raise."""
    content = b"".join(line(span(number, {"pad": f"{number}" * 2_000})) for number in range(3_000))
    (tmp_path / "traces.jsonl").write_bytes(content)
    with pytest.raises(TraceSourceError, match=r"memory_limit=15MB and disk_limit=1MB"):
        analysis.open(tmp_path / "traces.jsonl", memory_limit="15MB", disk_limit="1MB", threads=1)


@pytest.mark.parametrize("kept", [None, "kept.duckdb"])
def test_a_question_that_outgrows_memory_goes_to_disk(kept, tmp_path):
    """Also after reading, whose own temporary files are gone by then; and nothing is left behind."""
    (tmp_path / "traces.jsonl").write_bytes(lines(1))
    database = kept and tmp_path / kept
    with analysis.open(tmp_path / "traces.jsonl", database=database, memory_limit="100MB", threads=1) as traces:
        spilling = traces.sql("SELECT n FROM (SELECT range AS n, md5(n::VARCHAR) AS h FROM range(1000000) ORDER BY h)")
        assert 1_000_000 == len(spilling.fetchall())
    assert {"traces.jsonl", *filter(None, [kept])} == {path.name for path in tmp_path.iterdir()}


def test_progress_is_told_in_bytes(tmp_path, open_traces):
    """Whoever waits learns how far it is."""
    sizes = [(tmp_path / name).write_bytes(lines(2)) for name in ("a.jsonl", "b.jsonl")]
    told: list[tuple[int, int]] = []
    open_traces(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert [(sizes[0], sum(sizes)), (sum(sizes), sum(sizes))] == told


def test_parquet_goes_out_and_comes_back(tmp_path, open_traces):
    """An export by day and service holds every row, and reads as the same tables."""
    (tmp_path / "in").mkdir()
    for service in ("triage", "support"):
        one = span(len(service), events=[event(fault())], start=86_400.0 * len(service))
        (tmp_path / "in" / f"{service}.jsonl").write_bytes(line(one, service=service))
    before = open_traces(tmp_path / "in")
    before.export(tmp_path / "out")
    assert {"service=triage", "service=support"} == {
        path.parent.name for path in (tmp_path / "out" / "spans").rglob("*.parquet")
    }
    after = open_traces(tmp_path / "out")
    for table in ("spans", "span_events"):
        query = f"FROM {table} ORDER BY trace_id, span_id"
        assert before.sql(query).fetchall() == after.sql(query).fetchall()
    assert 2 == after.ingested.spans
    with pytest.raises(TraceSourceError, match="Name a new folder"):
        before.export(tmp_path / "out")


@pytest.mark.parametrize(("limit", "after"), [(None, None), ("1GB", "953.6 MiB")])
def test_reading_leaves_the_limit_as_it_was(limit, after, tmp_path):
    """Reading has a limit of its own, which the queries that follow do not feel."""
    (tmp_path / "traces.jsonl").write_bytes(lines(3))
    usual = duckdb.connect().execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    with analysis.open(tmp_path / "traces.jsonl", database=tmp_path / "kept.duckdb", memory_limit=limit) as traces:
        assert [(after or usual,)] == traces.sql("SELECT current_setting('memory_limit') AS it").fetchall()


def test_a_batch_that_needs_more_than_reading_is_given_gets_it(tmp_path):
    """The limit while reading saves memory; it is no reason to fail where the machine has more."""
    content = b"".join(line(span(number, {"pad": f"{number}" * 2_000})) for number in range(6_000))
    (tmp_path / "traces.jsonl").write_bytes(content)

    def read(name: str, memory: str | None) -> tuple[int, str]:
        with duckdb.connect(tmp_path / name) as connection:
            connection.execute("SET max_temp_directory_size = '1MB'; SET threads = 1")
            if memory is None:
                connection.execute("SET memory_limit = '100MB'")
            done = ingest(connection, [tmp_path / "traces.jsonl"], tmp_path, batch_bytes=1 << 30, memory=memory)
            return done.spans, connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]

    usual = duckdb.connect().execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    assert (6_000, usual) == read("kept.duckdb", "100MB")
    with pytest.raises(duckdb.OutOfMemoryException):  # when it is the user's limit, it holds
        read("limited.duckdb", None)
