"""Reading again: only what is new is read, under whatever name it lies, and every span is there once."""

import gzip
import shutil
from pathlib import Path

import pytest

from .otlp_lines import event, fault, line, lines, span
from .tables import tables


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of traces, and a database."""
    folder = tmp_path / "traces"
    folder.mkdir()
    return folder, tmp_path / "kept.duckdb"


@pytest.fixture
def read(place, open_traces):
    """Read the folder into the database, close it, and say what was read."""
    folder, database = place

    def read_folder():
        traces = open_traces(folder, database=database)
        traces.close()
        return traces.ingested

    return read_folder


def test_a_second_run_does_nothing(place, read):
    """Nothing is read twice, and the tables stay as they are."""
    folder, database = place
    (folder / "a.jsonl").write_bytes(lines(5))
    (folder / "b.jsonl").write_bytes(b"broken\n" + lines(5, 5))
    first = read()
    before = tables(database)
    second = read()
    assert (2, 0, 10, 1) == (first.files, first.unchanged, first.spans, first.quarantined)
    assert (0, 2, 0, 0) == (second.files, second.unchanged, second.spans, second.quarantined)
    assert before == tables(database)


def test_a_growing_file_is_read_from_where_it_ended(place, read):
    """What was appended is read, and nothing else."""
    folder, _ = place
    file = folder / "a.jsonl"
    file.write_bytes(lines(5))
    assert 5 == read().spans
    with file.open("ab") as appended:
        appended.write(lines(3, 5))
    again = read()
    assert (1, 3, 0) == (again.files, again.spans, again.duplicates)


def test_an_unfinished_line_is_told_until_it_is_finished(place, read):
    """A line that is still being written is in quarantine, and leaves it when its end arrives."""
    folder, database = place
    file = folder / "a.jsonl"
    last = line(span(9))
    file.write_bytes(lines(2) + last[:100])
    assert 1 == read().quarantined
    assert 0 == read().quarantined
    with file.open("ab") as appended:
        appended.write(last[100:])
    assert 1 == read().spans
    assert [] == tables(database)["quarantine"]


def test_rotation_by_rename_reads_nothing_twice(place, read):
    """A file that was renamed is recognised, and the new file under the old name is read."""
    folder, database = place
    file = folder / "traces.jsonl"
    file.write_bytes(b"broken\n" + lines(5))
    read()
    with file.open("ab") as appended:
        appended.write(lines(2, 5))
    file.rename(folder / "traces.jsonl.1")
    file.write_bytes(lines(4, 7))
    again = read()
    assert (6, 0) == (again.spans, again.duplicates)
    assert 1 == len(tables(database)["quarantine"])


def test_a_copy_is_not_read(place, read):
    """The same content under another name is nothing new."""
    folder, _ = place
    (folder / "a.jsonl").write_bytes(lines(5))
    read()
    shutil.copy(folder / "a.jsonl", folder / "b.jsonl")
    again = read()
    assert (0, 2) == (again.files, again.unchanged)


def test_a_file_that_was_started_anew_is_read_from_its_start(place, read):
    """The collector truncates its file when it starts: the same name, another content."""
    folder, _ = place
    file = folder / "a.jsonl"
    file.write_bytes(lines(50))
    read()
    file.write_bytes(lines(60, 100))
    assert 60 == read().spans


def test_a_compressed_file_that_grew_is_read_again_without_doubling(place, read):
    """A gzip stream cannot be resumed: it is read as a whole, and copies are left out."""
    folder, database = place
    file = folder / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b"broken\n" + lines(5), mtime=0))
    read()
    file.write_bytes(gzip.compress(b"broken\n" + lines(5), mtime=0) + gzip.compress(lines(3, 5)))
    again = read()
    assert (3, 5, 0) == (again.spans, again.duplicates, again.quarantined - 1)
    assert 8 == len(tables(database)["spans"])
    assert 1 == len(tables(database)["quarantine"])


@pytest.mark.parametrize("order", ["partial first", "complete first", "together"])
def test_of_two_copies_the_one_that_ended_last_is_kept(order, place, read):
    """A span that was exported before it ended gives way to its complete copy, with its events, in any order."""
    folder, database = place
    partial = line(span(1, {"state": "open"}, duration=0, events=[event(fault(message="early"))]))
    complete = line(span(1, {"state": "done"}, duration=2, events=[event(fault()), event(fault(attempt=2))]))
    parts = {
        "partial first": [partial, complete],
        "complete first": [complete, partial],
        "together": [partial + complete],
    }
    for number, part in enumerate(parts[order]):
        (folder / f"{number}.jsonl").write_bytes(part)
        read()
    found = tables(database)
    assert 1 == len(found["spans"])
    assert "done" in found["spans"][0]
    assert 2 == len(found["span_events"])
    assert "early" not in str(found)


def test_the_same_span_from_two_collectors_counts_once(place, read):
    """Copies in different files of one reading are left out, and counted."""
    folder, _ = place
    (folder / "a.jsonl").write_bytes(lines(5))
    (folder / "b.jsonl").write_bytes(lines(7))
    done = read()
    assert (7, 5) == (done.spans, done.duplicates)
