"""Changes and rows put into a TOML file as it stands: what they do not touch keeps its comments, order and spelling."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from itertools import takewhile
from typing import Any

import tomlkit
from tomlkit.items import AoT, Array, Comment, InlineTable, Item, Table

from .patch import Change, Row, comment, matched, render


def edited(text: str, changes: Iterable[Change], rows: Iterable[Row]) -> str:
    """Give ``text`` with the changes and rows in it, each under the reason for it.

    A value is set where its key stands, a new key ends its table, a new table ends the file. A row takes the place of
    one that matches the same; a new one comes before all others, so that it is the first to match.

    Raises:
        ValueError: ``text`` is no TOML.
    """
    document = tomlkit.parse(text)
    new_tables = [change for change in changes if not _set(document, change)]
    new_rows = [row for row in rows if not _replaced(document, row)]
    if new_rows and new_rows[0].table in document:
        _above(document, new_rows[0].table, f"{render([], new_rows)}\n")
        new_rows = []
    parts = (tomlkit.dumps(document).rstrip("\n"), render(new_tables, new_rows).rstrip("\n"))
    return "\n\n".join(filter(None, parts)) + "\n"


def _set(document: tomlkit.TOMLDocument, change: Change) -> bool:
    """Set a key in a table that is there; tell whether there is one."""
    place: Any = document
    *parents, name = change.path
    while parents and isinstance(place.get(parents[0]), MutableMapping):
        place = place[parents.pop(0)]
    if parents and not isinstance(place, InlineTable):
        return False
    value = change.value
    for parent in reversed(parents):
        name, value = parent, {name: value}
    if name in place or not _has_header(place):
        _assign(place, name, value, change.reason)
    else:
        *_, last = place, *(item for key, item in place.value.body if key and not isinstance(item, (Table, AoT)))
        last.trivia.trail += render([Change((name,), value, change.reason)])
    return True


def _has_header(place: Any) -> bool:
    """Whether it stands under a header of its own, where a comment in front of the next header may end it."""
    return isinstance(place, Table) and place.display_name is not None


def _assign(place: Any, name: str, value: Any, reason: str) -> None:
    before = place.get(name)
    if isinstance(before, Array) and isinstance(value, list):
        for item in value:  # the array keeps its own comments
            if item not in before:
                before.append(item)
    else:
        place[name] = value
    _explain(place.item(name) if isinstance(place, (tomlkit.TOMLDocument, Table)) else None, reason)


def _replaced(document: tomlkit.TOMLDocument, row: Row) -> bool:
    """Put a row in the place of one that matches the same; tell whether there is one."""
    same = (table for table in document.get(row.table, ()) if matched(table.unwrap()) == row.matches)
    table = next(same, None)
    if table is None:
        return False
    for key in table.unwrap().keys() - row.keys.keys():
        del table[key]
    for key, value in row.keys.items():
        if table.get(key) != value:
            table[key] = value
    _explain(table, row.reason)
    return True


def _explain(item: Any, reason: str) -> None:
    """Write the reason above an item's line."""
    if reason and isinstance(item, Item):
        item.trivia.indent = f"{comment(reason)}\n{item.trivia.indent}"


def _above(document: tomlkit.TOMLDocument, name: str, text: str) -> None:
    """Write text above the first table of an array, and above the comments that stand directly on it."""
    place = next(place for place, (key, _) in enumerate(document.body) if key is not None and key.key == name)
    items = (item for _, item in reversed(document.body[:place]))
    *_, first = document[name][0], *takewhile(lambda item: isinstance(item, Comment), items)
    first.trivia.indent = text + first.trivia.indent
