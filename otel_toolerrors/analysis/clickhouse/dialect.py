"""From the SQL that our views and findings are written in, which DuckDB runs as it stands, to ClickHouse's.

That SQL keeps to the standard but for a few functions. Each has its rendering here; every
other word passes through, so ClickHouse's own SQL may be used as well. Where
ClickHouse would answer 0 or '' and the standard says NULL, :data:`SETTINGS` make it follow the
standard, or the columns are nullable (:mod:`.contract`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

SETTINGS: Mapping[str, int | str] = MappingProxyType(
    {
        "join_use_nulls": 1,  # a row that finds no partner has NULL there
        "aggregate_functions_null_for_empty": 1,  # the sum of nothing is NULL
        "prefer_column_name_to_alias": 1,  # min(start) AS start does not shadow start in the next expression
        "cast_keep_nullable": 1,
        "union_default_mode": "DISTINCT",
        "joined_subquery_requires_alias": 0,
    }
)
"""What makes a session of ClickHouse read SQL as the standard does."""

_TOKEN = re.compile(
    r"""('(?:[^']|'')*') | ("(?:[^"]|"")*") | (--[^\n]*) | ([A-Za-z_]\w*) | (\s+) | (.)""", re.VERBOSE | re.DOTALL
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_BY_NAME = ("UNION", "ALL", "BY", "NAME")
_TYPES: Mapping[type, str] = MappingProxyType({bool: "Bool", int: "Int64", float: "Float64", str: "String"})


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between two parentheses."""

    items: list[Item]


Item = str | Group
"""A token, or a group of them."""

Columns = Mapping[str, str]
"""Names of a query's columns, and their types."""

Describe = Callable[[str], Columns]
"""Asks ClickHouse what columns a query has."""


def render(query: str) -> str:
    """Render a query without ``UNION ALL BY NAME``."""
    return _text(_parse(query))


def render_view(query: str, describe: Describe) -> str:
    """Render a query, and its ``UNION ALL BY NAME`` with the columns of its branches written out."""
    first, *others = _branches(_parse(query))
    if not others:
        return _text(first)
    start = _first(first, "SELECT")
    common, branches = _text(first[:start]), [_text(branch) for branch in (first[start:], *others)]
    found = [describe(common + branch) for branch in branches]
    types: dict[str, str] = {}
    for columns in found:
        for name, sql_type in columns.items():
            if types.get(name, "Nothing").find("Nothing") >= 0:
                types[name] = sql_type
    selects = (
        f"SELECT {', '.join(_column(name, sql_type, columns) for name, sql_type in types.items())} FROM ({branch})"
        for columns, branch in zip(found, branches, strict=True)
    )
    return common + "\nUNION ALL\n".join(selects)


def bind(query: str, values: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """Give each ``?`` of a rendered query its name and type, and return the values by name.

    Raises:
        ValueError: there are more or fewer values than question marks, or one is of another type.
    """
    places = [token[0] for token in _TOKEN.finditer(query)]
    count = places.count("?")
    if count != len(values):
        raise ValueError(f"the query has {count} question marks, and {len(values)} values were given")
    named = {f"p{number}": value for number, value in enumerate(values)}
    names = iter(named.items())
    text = "".join(_placeholder(*next(names)) if place == "?" else place for place in places)
    return text, named


def _placeholder(name: str, value: Any) -> str:
    sql_type = _TYPES.get(type(value))
    if sql_type is None:
        known = ", ".join(each.__name__ for each in _TYPES)
        raise ValueError(f"a {type(value).__name__} cannot be bound; known: {known}")
    return f"{{{name}:{sql_type}}}"


def _column(name: str, sql_type: str, columns: Columns) -> str:
    if name in columns:
        return f'"{name}"'
    nullable = sql_type if sql_type.startswith(("Nullable(", "Map(", "Array(")) else f"Nullable({sql_type})"
    return f'CAST(NULL AS {nullable}) AS "{name}"'


def _parse(query: str) -> list[Item]:
    opened: list[list[Item]] = [[]]
    for found in _TOKEN.finditer(query):
        match found[0]:
            case "(":
                opened.append([])
            case ")" if len(opened) > 1:
                group = Group(_named(opened.pop()))
                opened[-1].append(group)
            case ")":
                raise ValueError(f"a parenthesis is closed that was not opened: …{query[: found.end()][-40:]}")
            case text if text.startswith("'"):  # a backslash is an escape there
                opened[-1].append(text.replace("\\", "\\\\"))
            case text:
                opened[-1].append("\n" if text.startswith("--") else text)
    if len(opened) > 1:
        raise ValueError(f"{len(opened) - 1} parentheses are not closed: {query[:40]}…")
    return _named(opened[0])


def _named(items: list[Item]) -> list[Item]:
    """Give every ``f.code`` of a select list the name ``code``; ClickHouse names it by its table if two have one."""
    out: list[Item] = []
    selecting = False
    for item in items:
        word = item.upper() if isinstance(item, str) else ""
        if selecting and word in {",", "FROM"}:
            out += _alias(out)
        selecting = word == "SELECT" or (selecting and word != "FROM")
        out.append(item)
    return out + (_alias(out) if selecting else [])


def _alias(items: Sequence[Item]) -> list[Item]:
    """What names the column that ends here, if it is one of a table and has no name yet."""
    last = [item for item in items if not _is_space(item)][-4:]
    match last:
        case [before, str(table), ".", str(name)] if name != "*" and _IDENTIFIER.fullmatch(table):
            plain = isinstance(before, str) and before.upper() in {",", "SELECT", "DISTINCT"}
            return [" AS ", name, " "] if plain else []
        case _:
            return []


def _text(items: Sequence[Item]) -> str:
    out: list[str] = []
    place = 0
    while place < len(items):
        item, after = items[place], _next(items, place + 1)
        if isinstance(item, Group):
            out.append(f"({_text(item.items)})")
        elif after is not None and item.lower() in _FUNCTIONS and isinstance(group := items[after], Group):
            text, place = _FUNCTIONS[item.lower()](group, items, after)
            out.append(text)
        else:
            out.append(item)
        place += 1
    return "".join(out)


def _next(items: Sequence[Item], place: int) -> int | None:
    """The place of the next item that is not space."""
    return next((n for n in range(place, len(items)) if not _is_space(items[n])), None)


def _is_space(item: Item) -> bool:
    return isinstance(item, str) and item.isspace()


def _first(items: Sequence[Item], *words: str) -> int:
    """The place where a sequence of words begins; the end if it does not occur."""
    found = [(n, item) for n, item in enumerate(items) if not _is_space(item)]
    for start in range(len(found) - len(words) + 1):
        run = [item.upper() if isinstance(item, str) else "" for _, item in found[start : start + len(words)]]
        if run == list(words):
            return found[start][0]
    return len(items)


def _split(items: Sequence[Item], *words: str) -> list[Sequence[Item]]:
    """Cut at every occurrence of the words."""
    parts: list[Sequence[Item]] = []
    while (place := _first(items, *words)) < len(items):
        parts.append(items[:place])
        for _ in words:
            after = _next(items, place)
            place = len(items) if after is None else after + 1
        items = items[place:]
    return [*parts, items]


def _branches(items: Sequence[Item]) -> list[Sequence[Item]]:
    return _split(items, *_BY_NAME)


def _arguments(group: Group) -> list[str]:
    return [_text(part).strip() for part in _split(group.items, ",")]


_Rendered = tuple[str, int]
"""A call's text, and the place of its last item."""


def _scalar(shape: Callable[..., str]) -> Callable[[Group, Sequence[Item], int], _Rendered]:
    """A function whose rendering depends on its arguments alone."""
    return lambda group, _, place: (shape(*_arguments(group)), place)


def _list(group: Group, items: Sequence[Item], place: int) -> _Rendered:
    """``list(x ORDER BY k, …) FILTER (WHERE c)``: tuples with the keys first, sorted. Numbers may be ``DESC``."""
    value, *keys = _split(group.items, "ORDER", "BY")
    sorting = [_key(_text(key).strip()) for key in _split(keys[0], ",")] if keys else []
    condition = ""
    after = _next(items, place + 1)
    if after is not None and items[after] == "FILTER":
        filtering = _next(items, after + 1)
        if filtering is not None:
            place, condition = filtering, f" FILTER {_text([items[filtering]])}"
    tuples = f"groupArray(tuple({', '.join([*sorting, _text(value).strip()])})){condition}"
    return f"arrayMap(x -> tupleElement(x, {len(sorting) + 1}), arraySort({tuples}))", place


def _key(text: str) -> str:
    return f"-({text.removesuffix('DESC').strip()})" if text.endswith("DESC") else text


def _concat(*parts: str) -> str:
    """A missing part is empty, and does not take the rest with it."""
    return "concat(" + ", ".join(f"ifNull(toString({part}), '')" for part in parts) + ")"


def _concat_ws(separator: str, *parts: str) -> str:
    present = f"arrayFilter(x -> x IS NOT NULL, [{', '.join(f'toNullable({part})' for part in parts)}])"
    return f"arrayStringConcat(arrayMap(x -> assumeNotNull(x), {present}), {separator})"


def _regexp_replace(text: str, pattern: str, by: str, flags: str = "''") -> str:
    return f"replaceRegexp{'All' if 'g' in flags else 'One'}({text}, {pattern}, {by})"


def _try_cast(text: str) -> str:
    value, _, sql_type = text.rpartition(" AS ")
    return f"accurateCastOrNull({value}, '{sql_type}')"


_FUNCTIONS: Mapping[str, Callable[[Group, Sequence[Item], int], _Rendered]] = MappingProxyType(
    {
        "list": _list,
        "bool_or": _scalar(lambda x: f"max({x})"),
        "concat": _scalar(_concat),
        "concat_ws": _scalar(_concat_ws),
        "md5": _scalar(lambda x: f"lower(hex(MD5({x})))"),
        "quantile_cont": _scalar(lambda x, share: f"quantileExactInclusive({share})({x})"),
        "regexp_replace": _scalar(_regexp_replace),
        "try_cast": _scalar(_try_cast),
    }
)
"""The functions that ClickHouse spells otherwise, or that answer otherwise there."""
