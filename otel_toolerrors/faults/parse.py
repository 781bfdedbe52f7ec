"""Faults from what a person can paste: a traceback, or an error body with its status.

Text carries less than a live exception: class names, codes and words. What it
proves is judged accordingly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from otel_toolerrors.vocabulary import Effects

from . import arbitration, settling
from .classify import to_fault
from .evidence import Hit
from .fault import Fault
from .opinion import Opinion, Walk, of_parts
from .rules import Rule, RuleSet, rule_set
from .signals import body, headers, message

_MAX_TEXT: Final = 200_000
_RAISED: Final = re.compile(
    r"^(?P<bars>[ |+\-]*)(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z_a-z]\w*"
    r"(?:Error|Exception|Exit|Interrupt|Timeout|Warning|Refused|Failure|Group|[A-Z]\w+))"
    r"(?:: (?P<text>.*))?$",
    re.MULTILINE,
)
_BETWEEN: Final = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)


def fault_from_traceback(
    text: str, *, effects: Effects = "read", rules: RuleSet | Sequence[Rule] | None = None
) -> Fault:
    """The fault of a pasted traceback; of its last line alone, if that is all there is.

    Raises ValueError if the text holds no line that names an exception.
    """
    raised = _raised(text[-_MAX_TEXT:])
    if not raised:
        raise ValueError("no exception found: paste a traceback, or its last line, as in 'ValueError: bad date'")
    walk = Walk(rule_set(rules), headers.wall_clock())
    opinion = _of_line(*raised[-1], walk)
    for name, said in reversed(raised[:-1]):  # what it came from, the nearest first
        cause = _of_line(name, said, walk)
        if cause.hit is not None and arbitration.yields_to(opinion.hit, cause.hit, explicit=True):
            opinion.hits.append(Hit("chain", cause.hit.observed, cause.hit.rule, cause.hit.strength))
            opinion.hit = cause.hit
    settling.settle(opinion)
    return to_fault(opinion, None, effects)


def fault_from_body(
    text: str | bytes,
    *,
    status: int | None = None,
    fields: Mapping[str, str] | None = None,
    effects: Effects = "read",
    rules: RuleSet | Sequence[Rule] | None = None,
) -> Fault:
    """The fault of an error body (JSON or text), its HTTP status and its headers.

    Raises ValueError for a status that is none.
    """
    if status is not None and not 100 <= status <= 599:
        raise ValueError(f"{status} is no HTTP status: give a number from 100 to 599")
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        content: object = json.loads(text[:_MAX_TEXT])
    except (ValueError, RecursionError):
        content = None
    said = body.said(content) if isinstance(content, (dict, list)) else None
    found: dict[str, str] = {}
    headers.collect(dict(fields or {}), found)
    plain = "" if said is not None else text[:_MAX_TEXT]
    walk = Walk(rule_set(rules), headers.wall_clock())
    opinion = of_parts(said=said, text=plain, http_status=status, found=found, exit_status=None, walk=walk)
    return to_fault(opinion, None, effects)


def _raised(text: str) -> list[tuple[str, str]]:
    """(class name, text) of every exception of the traceback, the last raised last."""
    blocks = [text]
    for words in _BETWEEN:
        blocks = [part for block in blocks for part in block.split(words)]
    found = []
    for block in blocks:
        lines = [match for match in _RAISED.finditer(block) if not match["bars"].strip("| ")]
        if lines:
            found.append((lines[-1]["type"], (lines[-1]["text"] or "") + block[lines[-1].end() :].rstrip()))
    return found


def _of_line(name: str, said: str, walk: Walk) -> Opinion:
    rules = walk.rules
    hits: list[Hit] = []
    if (rule := rules.type(name.rpartition(".")[2])) is not None:
        hits.append(Hit("type", name, rule, "strong"))
    hits += message.hits(said, None, rules)
    return Opinion(arbitration.choose(hits), hits, text=said or name)
