"""Stale suggestion: a hint that names a tool the run does not have, that does not help (any more), or is ignored."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_toolerrors.analysis.patch import Change, Patch
from otel_toolerrors.analysis.statistics import Interval, at_least, at_most, wilson

from . import suggestion_decay
from .finding import Cost, Evidence, Finding, Severity
from .query import WORKED, rows
from .tested import Tested

if TYPE_CHECKING:
    from otel_toolerrors.analysis.traces import Traces

    from .options import Options

KIND = "stale_suggestion"
_TURNS = 3
"""A hint is followed if one of the run's next three calls is of a tool that it names."""
_HELPLESS = 0.5
"""A hint misleads if more than this share of those who follow it fail again."""
_OFTEN = 10
"""Times from which a hint that cannot be followed is grave."""
_IGNORED = 0.1
"""A hint is ignored if surely fewer than this share of its readers follow it."""

_SHOWN = """
SELECT s.trace_id, s.call_span_id AS span_id, s.run_id, s.tool, s.suggestions, s.dropped_suggestions AS dropped,
  s.suggested_tools, s.offered_tools, s.injected_tokens AS tokens, c."index" AS "index"
FROM surfaced s LEFT JOIN calls c ON c.trace_id = s.trace_id AND c.span_id = s.call_span_id
WHERE s.suggestions IS NOT NULL OR s.dropped_suggestions IS NOT NULL
ORDER BY s.ts, s.span_id"""

_CALLS = f"""
SELECT run_id, "index", tool, outcome IN {WORKED} AS worked FROM calls
WHERE run_id IN (SELECT run_id FROM surfaced WHERE suggested_tools IS NOT NULL)
ORDER BY run_id, "index", start, span_id"""


@dataclass(slots=True)
class _Hint:
    """What became of one hint."""

    shown: int = 0
    tokens: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    followed: int = 0
    failed_again: int = 0
    readable: int = 0
    """Times it was shown with tools that the run had."""
    offered: set[str] = field(default_factory=set)
    absent: list[Evidence] = field(default_factory=list)
    in_vain: list[Evidence] = field(default_factory=list)
    seen: list[Evidence] = field(default_factory=list)


def look(traces: Traces, options: Options) -> Iterator[Finding | Tested]:
    """Look at every hint that was shown, or left out because its tool is not there."""
    shown = rows(traces, _SHOWN)
    later = _later_calls(traces)
    hints: dict[str, _Hint] = defaultdict(_Hint)
    dropped: dict[str, list[Evidence]] = defaultdict(list)
    blame = _blame(shown)
    for row in shown:
        where = Evidence(row.trace_id, row.span_id or "")
        for hint in _words(row.dropped):
            dropped[hint].append(where)
        for hint in _words(row.suggestions):
            _count(hints[hint], row, where, blame[hint], later)
    for name in sorted(hints):
        yield from _judge(name, hints[name], options)
    for name in sorted(dropped):
        yield _left_out(name, dropped[name], options)
    yield from suggestion_decay.look(traces, options)


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").split(",") if word]


def _blame(shown: list[Any]) -> dict[str, set[str]]:
    """The tools that each hint names: those that came with it every time it was shown."""
    named: dict[str, set[str]] = {}
    for row in shown:
        tools = set(_words(row.suggested_tools))
        for hint in _words(row.suggestions):
            named[hint] = named[hint] & tools if hint in named else tools
    return named


def _later_calls(traces: Traces) -> dict[str, list[Any]]:
    calls: dict[str, list[Any]] = defaultdict(list)
    for row in rows(traces, _CALLS):
        calls[row.run_id].append(row)
    return calls


def _count(hint: _Hint, row: Any, where: Evidence, tools: set[str], later: dict[str, list[Any]]) -> None:
    offered = set(_words(row.offered_tools))
    hint.shown += 1
    hint.tokens += row.tokens or 0
    hint.seen.append(where)
    hint.offered |= offered
    absent = sorted(tools - offered) if offered else []
    hint.missing.update(absent)
    if absent:
        hint.absent.append(where)
    elif tools and row.index is not None:
        hint.readable += 1
        _follow(hint, row, where, tools, later)


def _follow(hint: _Hint, row: Any, where: Evidence, tools: set[str], later: dict[str, list[Any]]) -> None:
    after = [call for call in later[row.run_id] if call.index > row.index]
    step = next((place for place, call in enumerate(after[:_TURNS]) if call.tool in tools), None)
    if not after:
        hint.readable -= 1  # the run ended there: nobody could follow it
    if step is None:
        return
    hint.followed += 1
    again = next((call for call in after[step + 1 :] if call.tool == row.tool), None)
    if not after[step].worked or (again is not None and not again.worked):
        hint.failed_again += 1
        hint.in_vain.append(where)


def _judge(name: str, hint: _Hint, options: Options) -> Iterator[Finding | Tested]:
    if hint.missing:
        yield _finding(name, hint, _absent(hint), options)
        return
    if hint.followed:
        share = wilson(hint.failed_again, hint.followed)
        text = (
            f"Followed {hint.followed} times, it was followed by another failure {hint.failed_again} times: {share}. "
            "What it advises does not help any more."
        )
        verdict = _Verdict("medium", "misleads: who follows it fails again", text, hint.in_vain, share)
        yield Tested(
            at_least(hint.failed_again, hint.followed, _HELPLESS),
            _finding(name, hint, verdict, options),
            least=at_least(hint.followed, hint.followed, _HELPLESS),
        )
    if hint.readable:
        share = wilson(hint.followed, hint.readable)
        text = (
            f"Shown {hint.readable} times in runs that had the tools it names, it was followed {hint.followed} times: "
            f"{share}. It costs {hint.tokens} tokens and changes nothing."
        )
        verdict = _Verdict("low", "is not followed", text, hint.seen, share)
        yield Tested(
            at_most(hint.followed, hint.readable, _IGNORED),
            _finding(name, hint, verdict, options),
            least=at_most(0, hint.readable, _IGNORED),
        )


@dataclass(frozen=True, slots=True)
class _Verdict:
    severity: Severity
    what: str
    text: str
    where: list[Evidence]
    share: Interval | None = None


def _absent(hint: _Hint) -> _Verdict:
    gone, times = ", ".join(sorted(hint.missing)), len(hint.absent)
    near = {tool: difflib.get_close_matches(tool, sorted(hint.offered), n=1) for tool in sorted(hint.missing)}
    advice = "".join(f"; perhaps {tool} is {close[0]} now" for tool, close in near.items() if close)
    text = (
        f"It tells the model to use {gone}, which the run did not offer {times} of the {hint.shown} times it was "
        f"shown{advice}. A hint that cannot be followed misleads, and costs tokens."
    )
    severity: Severity = "high" if times >= _OFTEN else "medium"
    return _Verdict(severity, f"names {gone}, which is not offered", text, hint.absent)


def _finding(name: str, hint: _Hint, verdict: _Verdict, options: Options) -> Finding:
    shown, absent = hint.shown, len(hint.absent)
    return Finding(
        kind=KIND,
        severity=verdict.severity,
        code=name,
        title=f"suggestion {name} {verdict.what}",
        explanation=verdict.text,
        counts={"shown": shown, "absent": absent, "followed": hint.followed, "failed_again": hint.failed_again},
        cost=Cost(tokens=hint.tokens * len(verdict.where) // shown),
        interval=verdict.share,
        evidence=tuple(verdict.where[: options.evidence]),
        patch=_retire(name, verdict.what),
    )


def _left_out(name: str, where: list[Evidence], options: Options) -> Finding:
    return Finding(
        kind=KIND,
        severity="low",
        code=name,
        title=f"suggestion {name} is left out: it names a tool that is not offered",
        explanation=f"The layer left it out {len(where)} times, so no harm was done; the catalog is out of date.",
        counts={"left_out": len(where)},
        evidence=tuple(where[: options.evidence]),
        patch=_retire(name, "it names a tool that is not offered"),
    )


def _retire(name: str, reason: str) -> Patch:
    return Patch("catalog", changes=(Change(("without",), [name], f"{name}: {reason}"),))
