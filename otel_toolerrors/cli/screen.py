"""Everything the command prints: plain when piped, and never what a trace wants the terminal to do."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

from rich import box
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

_WIDE = 10_000
"""Columns of a pipe: nothing is wrapped for a program."""
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})

SEVERITY_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "info": "dim"}


def printable(text: object) -> str:
    """Write ``text`` with control, direction and invisible characters as escapes: none reaches the terminal."""
    return "".join(_escaped(char) if unicodedata.category(char) in _UNPRINTABLE else char for char in str(text))


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


@dataclass(slots=True)
class Node:
    """A line of a tree: its parts, each text or a pair of text and style, and what hangs on it."""

    parts: tuple[tuple[object, str] | object, ...]
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Give each node with its depth, from the top."""
        waiting = [(0, self)]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            waiting += [(depth + 1, child) for child in reversed(node.children)]


class Screen:
    """Prints to one stream: with colours and rules on a terminal, without on a pipe."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self.console = Console(file=self._stream, highlight=False, markup=False, emoji=False)
        if not self.console.is_terminal:
            self.console = Console(
                file=self._stream, highlight=False, markup=False, emoji=False, width=_WIDE, no_color=True
            )

    @property
    def rich(self) -> bool:
        """Whether a person looks at it."""
        return self.console.is_terminal

    def say(self, text: object = "", style: str = "") -> None:
        """Print one line."""
        self._print(Text(printable(text), style if self.rich else ""))

    def block(self, text: str, style: str = "", indent: int = 0) -> None:
        """Print several lines as they are."""
        for line in text.splitlines():
            self.say(" " * indent + line, style)

    def title(self, text: str) -> None:
        """Print a heading."""
        self.say()
        self.say(text, "bold")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()) -> None:
        """Print rows. A cell is text, or a pair of text and style; the columns in ``right`` are numbers."""
        table = Table(
            box=box.SIMPLE_HEAD if self.rich else None,
            pad_edge=False,
            show_edge=False,
            header_style="bold" if self.rich else "",
        )
        numeric = set(right)
        for column in columns:
            table.add_column(column, justify="right" if column in numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(self._cell, row))
        self._print(table)

    def tree(self, top: Node) -> None:
        """Print a tree: with branches on a terminal, with indentation on a pipe."""
        if not self.rich:
            for depth, node in top.walk():
                self._print(Text("  " * depth) + self._joined(node))
            return
        tree = Tree(self._joined(top))
        branches = {id(top): tree}
        for _, node in top.walk():
            branches |= {id(child): branches[id(node)].add(self._joined(child)) for child in node.children}
        self._print(tree)

    def _joined(self, node: Node) -> Text:
        return Text("  ").join(map(self._cell, node.parts))

    def json(self, value: Any) -> None:
        """Print JSON, in ASCII: no character of it acts on a terminal."""
        self._stream.write(json.dumps(value, indent=2, default=str) + "\n")

    @contextmanager
    def progress(self, text: str) -> Iterator[Callable[[float], None]]:
        """Show on a terminal that something takes its time; give a function to tell how far it is."""
        if not self.rich:
            yield lambda _share: None
            return
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as bars:
            task = bars.add_task(printable(text), total=None)
            yield lambda share: bars.update(task, total=1.0, completed=share)

    def _cell(self, cell: object) -> Text:
        text, style = cell if isinstance(cell, tuple) else (cell, "")
        return Text(printable(text), style if self.rich else "")

    def _print(self, what: RenderableType) -> None:
        if self.rich:
            self.console.print(what)
            return
        with self.console.capture() as captured:
            self.console.print(what)
        lines = captured.get().split("\n")
        self._stream.write("\n".join(line.rstrip() for line in lines))


def forgiving(*streams: TextIO) -> None:
    """Let a terminal without Unicode show a question mark instead of failing; and leave quietly when a pipe closes."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def hang_up() -> None:
    """Give up on a closed pipe: what is still buffered goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
