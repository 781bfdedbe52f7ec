"""The files that lines are appended to."""

import errno
import gzip
import os
import stat
from pathlib import Path

import pytest

from otel_toolerrors.telemetry import Rotation
from otel_toolerrors.telemetry.trace_files import TraceFiles

FULL = Path("/dev/full")
LINE = b'{"resourceSpans":[]}\n'


class Clock:
    """Seconds since the epoch, as told."""

    now = 1_795_000_000.0

    def __call__(self):
        """Say what time it is."""
        return self.now


@pytest.fixture
def clock():
    """A clock that stands still."""
    return Clock()


def files(folder, pattern="*.jsonl*"):
    """The names of the trace files, oldest first."""
    return sorted(path.name for path in folder.glob(pattern))


def test_a_file_names_its_process_and_is_private(tmp_path, clock):
    """The folder and its files are readable by their owner only, and kept out of version control."""
    folder = tmp_path / "deep" / "traces"
    trace_files = TraceFiles(folder, "traces", clock=clock)
    trace_files.append(LINE)
    (name,) = files(folder)
    assert name.startswith(f"traces-20261118T110640Z-{os.getpid()}-")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"
    assert trace_files.path.read_bytes() == LINE


def test_a_folder_that_exists_is_left_as_it_is(tmp_path):
    """Somebody else's folder keeps its permissions and gets nothing but trace files."""
    tmp_path.chmod(0o755)
    TraceFiles(tmp_path, "traces").append(LINE)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert not (tmp_path / ".gitignore").exists()


def test_two_writers_never_share_a_file(tmp_path, clock):
    """Writers that start in the same second of the same process write apart."""
    writers = [TraceFiles(tmp_path, "traces", clock=clock) for _ in range(5)]
    for writer in writers:
        writer.append(LINE)
    assert len(files(tmp_path)) == 5


def test_a_full_file_is_followed_by_the_next(tmp_path, clock):
    """A line that would make a file too long begins another; a line is never split."""
    trace_files = TraceFiles(tmp_path, "traces", Rotation(max_bytes=2 * len(LINE)), clock=clock)
    for _ in range(5):
        trace_files.append(LINE)
    names = files(tmp_path)
    assert [name[-11:] for name in names] == ["-0000.jsonl", "-0001.jsonl", "-0002.jsonl"]
    assert [(tmp_path / name).read_bytes() for name in names] == [LINE * 2, LINE * 2, LINE]


def test_a_line_longer_than_a_file_has_one_to_itself(tmp_path):
    """The limit never makes a line impossible to write."""
    trace_files = TraceFiles(tmp_path, "traces", Rotation(max_bytes=1))
    for _ in range(3):
        trace_files.append(LINE)
    assert [(tmp_path / name).read_bytes() for name in files(tmp_path)] == [LINE] * 3


def test_an_old_file_is_followed_by_the_next(tmp_path, clock):
    """The first line after the maximum age begins another file."""
    trace_files = TraceFiles(tmp_path, "traces", Rotation(max_age=3600), clock=clock)
    trace_files.append(LINE)
    clock.now += 3599
    trace_files.append(LINE)
    clock.now += 1
    trace_files.append(LINE)
    assert [(tmp_path / name).read_bytes() for name in files(tmp_path)] == [LINE * 2, LINE]


def test_finished_files_can_be_compressed(tmp_path):
    """A finished file becomes an ordinary, private gzip file, and nothing else is left of it."""
    trace_files = TraceFiles(tmp_path, "traces", Rotation(max_bytes=1, compress=True))
    trace_files.append(LINE)
    trace_files.append(LINE)
    trace_files.close()
    names = files(tmp_path)
    assert [name[-14:] for name in names] == ["-0000.jsonl.gz", "-0001.jsonl.gz"]
    assert [gzip.decompress((tmp_path / name).read_bytes()) for name in names] == [LINE, LINE]
    assert stat.S_IMODE((tmp_path / names[0]).stat().st_mode) == 0o600
    assert files(tmp_path, "*.part") == []


def test_a_file_that_cannot_be_compressed_stays(tmp_path, monkeypatch):
    """Compression that fails costs nothing but the space."""

    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("otel_toolerrors.telemetry.trace_files.gzip.open", refuse)
    trace_files = TraceFiles(tmp_path, "traces", Rotation(compress=True))
    trace_files.append(LINE)
    trace_files.close()
    (name,) = files(tmp_path)
    assert (tmp_path / name).read_bytes() == LINE


def test_old_files_of_all_processes_are_deleted_only_if_asked(tmp_path, clock):
    """With `keep`, files that nobody has written to for that long go; others, and other people's, stay."""
    names = ["traces-a-0000.jsonl", "traces-b-0000.jsonl.gz", "traces-new.jsonl", "notes.txt", "logs-a-0000.jsonl"]
    for name in names:
        (tmp_path / name).write_bytes(LINE)
        old = clock.now - (100 if name == "traces-new.jsonl" else 7200)
        os.utime(tmp_path / name, (old, old))
    TraceFiles(tmp_path, "traces", clock=clock).append(LINE)
    assert {path.name for path in tmp_path.iterdir()} >= set(names)
    TraceFiles(tmp_path, "traces", Rotation(keep=3600), clock=clock).append(LINE)
    left = {path.name for path in tmp_path.iterdir()}
    assert left & set(names) == {"traces-new.jsonl", "notes.txt", "logs-a-0000.jsonl"}


def test_a_deleted_folder_is_made_again(tmp_path):
    """Lines do not go into a file that nobody can find any more."""
    folder = tmp_path / "traces"
    trace_files = TraceFiles(folder, "traces")
    trace_files.append(LINE)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    trace_files.append(LINE)
    assert [(folder / name).read_bytes() for name in files(folder)] == [LINE]


def test_a_line_that_does_not_fit_is_taken_back(tmp_path, monkeypatch):
    """A disk that takes half a line is an error, and the half is not left behind."""
    real = os.write
    trace_files = TraceFiles(tmp_path, "traces")
    trace_files.append(LINE)
    monkeypatch.setattr(os, "write", lambda file, line: real(file, line[:7]))
    with pytest.raises(OSError, match="No space left") as raised:
        trace_files.append(LINE)
    assert raised.value.errno == errno.ENOSPC
    monkeypatch.undo()
    trace_files.append(LINE)
    assert trace_files.path.read_bytes() == LINE * 2


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_really_full_disk_is_an_error(tmp_path):
    """The system's own full device is refused like any other."""
    trace_files = TraceFiles(tmp_path, "traces")
    trace_files.append(LINE)
    trace_files._file = os.open(FULL, os.O_WRONLY)
    trace_files._is_there = lambda: True
    with pytest.raises(OSError, match="No space left"):
        trace_files.append(LINE)


def test_a_folder_that_is_a_file_is_an_error(tmp_path):
    """A path that cannot be a folder is refused each time, until it can be one."""
    folder = tmp_path / "traces"
    folder.write_text("not a folder")
    trace_files = TraceFiles(folder, "traces")
    with pytest.raises(OSError, match="traces"):
        trace_files.append(LINE)
    folder.unlink()
    trace_files.append(LINE)
    assert len(files(folder)) == 1


@pytest.mark.parametrize(("policy", "synced"), [("never", 0), ("rotate", 1), ("write", 3)])
def test_data_is_forced_to_the_disk_as_told(tmp_path, monkeypatch, policy, synced):
    """Never, once a file, or after each line and at the end."""
    calls = []
    monkeypatch.setattr(os, "fsync", calls.append)
    trace_files = TraceFiles(tmp_path, "traces", Rotation(fsync=policy))
    trace_files.append(LINE)
    trace_files.append(LINE)
    trace_files.close()
    trace_files.close()
    assert len(calls) == synced


def test_after_a_fork_the_child_begins_a_file_of_its_own(tmp_path):
    """A file that was forgotten is not finished, and the next line goes elsewhere."""
    trace_files = TraceFiles(tmp_path, "traces", Rotation(compress=True))
    trace_files.append(LINE)
    trace_files.forget()
    trace_files.append(LINE)
    assert len(files(tmp_path, "*.jsonl")) == 2
