"""The queue before the files: no delay for the agent, nothing lost in silence."""

import gc
import os
from threading import Event, get_ident
from weakref import WeakMethod

import pytest
from opentelemetry import context as otel_context

from otel_toolerrors.telemetry.context import suppressed
from otel_toolerrors.telemetry.outbox import Drops, Outbox, _call_if_alive

FULL = OSError(28, "No space left on device")
PATIENCE = 20.0  # seconds that a test waits at most for another thread; it never has to


def encode(batch):
    """A batch as a line; an item that is None cannot be encoded."""
    return ",".join(item.upper() for item in batch).encode() + b"\n"


class Lines:
    """Lines in memory, on a disk that can refuse or hang."""

    def __init__(self):
        self.lines, self.closed, self.forgotten = [], False, False
        self.refusal = None
        self.reached, self.go_on, self.taken = Event(), Event(), Event()
        self.go_on.set()
        self.threads = set()
        self.quiet = []

    def append(self, line):
        """Take the line, unless told otherwise."""
        self.threads.add(get_ident())
        self.quiet.append(suppressed(otel_context.get_current()))
        self.reached.set()
        self.go_on.wait(PATIENCE)
        if self.refusal is not None:
            raise self.refusal
        self.lines.append(line)
        self.taken.set()

    def close(self):
        """Finish."""
        self.closed = True

    def forget(self):
        """Let go."""
        self.forgotten = True

    @property
    def items(self):
        """All items, in order."""
        return [item for line in b"".join(self.lines).decode().splitlines() for item in line.split(",")]


@pytest.fixture
def lines():
    """A disk that works until it is told not to."""
    return Lines()


@pytest.fixture
def drops():
    """What is lost."""
    return Drops()


@pytest.fixture
def outbox(lines, drops):
    """An outbox with room for four."""
    outbox = Outbox(encode, lines, drops, capacity=4)
    yield outbox
    lines.go_on.set()
    outbox.close(PATIENCE)


def test_items_are_written_by_another_thread_in_order(outbox, lines):
    """What is handed over is written without the agent's thread."""
    for item in "abc":
        outbox.put(item)
    assert outbox.flush(PATIENCE)
    assert lines.items == ["A", "B", "C"]
    assert get_ident() not in lines.threads


def test_an_item_is_written_without_being_asked_for(outbox, lines):
    """Nobody has to flush: a process that is killed later has lost nothing of it."""
    outbox.put("a")
    assert lines.taken.wait(PATIENCE)


def test_writing_telemetry_makes_none(outbox, lines):
    """The writing thread runs where instrumentation is suppressed."""
    outbox.put("a")
    outbox.flush(PATIENCE)
    assert lines.quiet == [True]


def test_a_hurry_ends_the_wait(lines, drops):
    """The end of a run is written at once, however long the outbox would gather."""
    outbox = Outbox(encode, lines, drops, linger=1e6)
    outbox.put("first")
    assert lines.taken.wait(PATIENCE)
    lines.taken.clear()
    outbox.put("second")
    outbox.hurry()
    assert lines.taken.wait(PATIENCE)
    outbox.close(PATIENCE)


def test_a_stalled_disk_delays_nobody_and_loses_what_does_not_fit(outbox, lines, drops):
    """While a write hangs, items are taken until the queue is full; then they are dropped and counted."""
    lines.go_on.clear()
    outbox.put("a")
    assert lines.reached.wait(PATIENCE)
    for item in "bcdefg":
        outbox.put(item)
    assert drops.by_reason() == {"queue_full": 2}
    assert not outbox.flush(0)
    lines.go_on.set()
    assert outbox.flush(PATIENCE)
    assert lines.items == ["A", "B", "C", "D", "E"]


@pytest.mark.parametrize("refusal", [FULL, ValueError("embedded null byte")])
def test_a_refusing_disk_is_tried_again(refusal, outbox, lines, drops, caplog):
    """A line that was refused, for whatever reason, is written later, once, in its place; each change is told once."""
    lines.refusal = refusal
    outbox.put("a")
    outbox.put("b")
    assert not outbox.flush(PATIENCE)
    assert not outbox.flush(PATIENCE)
    lines.refusal = None
    outbox.put("c")
    assert outbox.flush(PATIENCE)
    assert lines.items == ["A", "B", "C"]
    assert drops.by_reason() == {}
    assert [record.message for record in caplog.records] == [
        f"telemetry cannot be written, will try again: {refusal.args[-1]}",
        "telemetry is written again",
    ]


def test_a_disk_that_recovers_needs_no_reminder(lines, drops, monkeypatch):
    """The outbox tries again by itself."""
    monkeypatch.setattr("otel_toolerrors.telemetry.outbox.RETRY_AFTER", 0)
    outbox = Outbox(encode, lines, drops)
    lines.refusal = FULL
    outbox.put("a")
    assert lines.reached.wait(PATIENCE)
    lines.refusal = None
    assert lines.taken.wait(PATIENCE)
    outbox.close(PATIENCE)
    assert lines.items == ["A"]


def test_an_item_that_cannot_be_encoded_is_lost_alone(lines, drops):
    """One strange item does not take its neighbours with it."""
    outbox = Outbox(encode, lines, drops, linger=1e6)
    lines.go_on.clear()
    outbox.put("first")
    assert lines.reached.wait(PATIENCE)
    for item in ("a", None, "b"):
        outbox.put(item)
    lines.go_on.set()
    assert outbox.flush(PATIENCE)
    outbox.put(None)
    assert outbox.flush(PATIENCE)
    outbox.close(PATIENCE)
    assert lines.items == ["FIRST", "A", "B"]
    assert drops.by_reason() == {"not_encodable": 2}


def test_closing_writes_what_waits_and_finishes_the_file(outbox, lines, drops):
    """After the end nothing is missing, and what comes later is counted."""
    outbox.put("a")
    assert outbox.close(PATIENCE)
    outbox.put("b")
    assert outbox.close(PATIENCE)
    assert (lines.items, lines.closed) == (["A"], True)
    assert drops.by_reason() == {"closed": 1}


def test_closing_on_a_refusing_disk_ends_and_counts(outbox, lines, drops):
    """The end of the process does not wait for a disk that refuses."""
    lines.refusal = FULL
    for item in "abc":
        outbox.put(item)
    assert not outbox.close(PATIENCE)
    assert drops.by_reason() == {"shutdown": 3}


def test_closing_on_a_stalled_disk_ends_and_counts(lines, drops):
    """The end of the process does not wait for a disk that hangs, and leaves the file to the thread that has it."""
    outbox = Outbox(encode, lines, drops)
    lines.go_on.clear()
    outbox.put("a")
    assert lines.reached.wait(PATIENCE)
    outbox.put("b")
    assert not outbox.close(0)
    assert drops.by_reason() == {"shutdown": 2}
    assert not lines.closed
    lines.go_on.set()


def test_without_a_thread_closing_writes_all_the_same(lines, drops, monkeypatch):
    """Late in the interpreter's end no thread can be started; what was handed over is still written."""

    def refuse(_):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr("otel_toolerrors.telemetry.outbox.Thread.start", refuse)
    outbox = Outbox(encode, lines, drops)
    outbox.put("a")
    assert outbox.close(PATIENCE)
    assert lines.items == ["A"]


def test_drops_are_told_on():
    """Whoever counts drops elsewhere hears of each."""
    heard = []
    drops = Drops(lambda reason, items: heard.append((reason, items)))
    drops.count("queue_full")
    drops.count("queue_full", 2)
    assert heard == [("queue_full", 1), ("queue_full", 2)]
    assert drops.by_reason() == {"queue_full": 3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_forked_child_writes_its_own_items_only(outbox, lines):
    """What waited in the parent is not written twice, and the child starts a file and a thread of its own."""
    lines.go_on.clear()
    outbox.put("parent")
    assert lines.reached.wait(PATIENCE)
    outbox.put("waiting")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        try:
            lines.go_on = Event()
            lines.go_on.set()
            outbox.put("child")
            written = outbox.flush(PATIENCE)
            os.write(write, repr((written, lines.forgotten, lines.items)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        assert said.read() == repr((True, True, ["CHILD"]))
    os.waitpid(child, 0)
    lines.go_on.set()
    assert outbox.flush(PATIENCE)
    assert lines.items == ["PARENT", "WAITING"]
    assert not lines.forgotten


def test_an_outbox_that_is_gone_is_not_asked_after_a_fork(lines, drops):
    """The hook for forks does not keep an outbox alive."""
    outbox = Outbox(encode, lines, drops)
    method = WeakMethod(outbox._after_fork)
    _call_if_alive(method)
    assert lines.forgotten
    lines.forgotten = False
    del outbox
    gc.collect()
    _call_if_alive(method)
    assert not lines.forgotten
