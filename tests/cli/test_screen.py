import io

from otel_toolerrors.cli.screen import Node, Screen, printable

HOSTILE = "a\x1b[31mb\x9bc\u202ed\u200be\nf[bold]g[/]"


class _Terminal(io.StringIO):
    """Stands in for a terminal: the real one cannot be read back."""

    def isatty(self):
        return True


def test_printable_escapes_what_acts():
    """Control, direction and invisible characters are written as escapes; the rest stays."""
    assert r"a\x1b[31mb\x9bc\u202ed\u200be\nf[bold]g[/]" == printable(HOSTILE)


def test_markup_in_data_is_text(monkeypatch):
    """On a terminal, what looks like markup is shown as it is, and no foreign escape gets through."""
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = _Terminal()
    Screen(stream).table(["x"], [[HOSTILE]])
    assert "[bold]g[/]" in stream.getvalue()
    assert "\x1b[31m" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()


def test_terminal_gets_colours_and_a_pipe_none(monkeypatch):
    """The same line is coloured for a person and plain for a pipe."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal, pipe = _Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        Screen(stream).say("hello", "bold red")
    assert pipe.getvalue() == "hello\n"
    assert "\x1b[" in terminal.getvalue()


def test_piped_table_is_aligned_and_unwrapped():
    """A pipe gets one line a row, however long, without trailing blanks."""
    pipe = io.StringIO()
    Screen(pipe).table(["name", "n"], [["x" * 300, 1], ["y", 22]], right=["n"])
    lines = pipe.getvalue().rstrip("\n").split("\n")
    assert len(lines) == 3
    assert lines == [line.rstrip() for line in lines]


def test_piped_tree_is_indented():
    """A tree in a pipe is indented by two blanks a level."""
    pipe = io.StringIO()
    Screen(pipe).tree(Node(("a",), [Node(("b", ("c", "bold")), [Node(("d",))]), Node(("e",))]))
    assert pipe.getvalue() == "a\n  b  c\n    d\n  e\n"
