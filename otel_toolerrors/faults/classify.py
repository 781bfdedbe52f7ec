"""An exception becomes a `Fault`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from otel_toolerrors.vocabulary import Effects

from .control_flow import is_control_flow
from .evidence import Hit, profile
from .fault import Fault, Verdict
from .fingerprint import fingerprint
from .opinion import Opinion, Walk, of_exception
from .redaction import redact
from .rules import Rule, RuleSet, rule_set
from .signals import headers

_STRENGTHS: Final = {"certain": 0, "strong": 1, "weak": 2}
_OBSERVED: Final = 120
_VERDICTS: Final = 24
_OURS: Final = frozenset({"type", "status", "errno", "location"})
"""Signals whose observation is no foreign text."""

_UNKNOWN: Final = Rule(code="unknown", category="unknown", passing=False, why="Nothing tells.", ours=True)
_UNREADABLE: Final = Rule(
    code="unknown.unreadable", category="unknown", passing=False, why="The exception cannot be read.", ours=True
)
_CANCELLED: Final = Rule(
    code="cancelled", category="cancelled", passing=False, why="Control flow: to be re-raised.", ours=True
)


def classify(
    exc: BaseException,
    *,
    effects: Effects = "read",
    rules: RuleSet | Sequence[Rule] | None = None,
    now: float | None = None,
) -> Fault:
    """Say what an exception means. Never raises, never imports a vendor's library, never reads from a network.

    ``effects`` is what the tool declared about itself. ``rules`` are the
    user's own, ahead of the package's; build a `RuleSet` once if you pass them
    often. ``now`` is the wall-clock time in seconds that HTTP dates count from.
    """
    if is_control_flow(exc):
        opinion = Opinion(Hit("type", type(exc).__qualname__, _CANCELLED, "certain"))
    else:
        opinion = _opinion(exc, rule_set(rules), headers.wall_clock() if now is None else now)
    return to_fault(opinion, exc, effects)


def _opinion(exc: BaseException, rules: RuleSet, now: float) -> Opinion:
    """An exception is foreign code: whatever it does to us, the tool's caller gets an answer that is not retried."""
    try:
        return of_exception(exc, Walk(rules, now)) or Opinion()
    except Exception as failure:  # noqa: BLE001 - see above; the fault says what happened
        return Opinion(Hit("value", f"{type(failure).__qualname__} while reading it", _UNREADABLE, "weak"))


def to_fault(opinion: Opinion, exc: BaseException | None, effects: Effects) -> Fault:
    """The record of an opinion; every text in it is redacted."""
    hit = opinion.hit or Hit("value" if exc is None else "type", "nothing that a rule knows", _UNKNOWN, "weak")
    kind = None if exc is None else profile(type(exc)).qualified
    code = f"http.{hit.observed}" if hit.signal == "status" and hit.rule.ours else hit.rule.code
    text = redact(opinion.text)
    return Fault(
        category=hit.rule.category,
        code=code,
        passing=opinion.passing,
        side_effects=opinion.side_effects,
        effects=effects,
        message=text,
        fingerprint=fingerprint(kind, code, text),
        retry_after=opinion.retry_after,
        http_status=opinion.http_status,
        exception_type=kind,
        refused_by_server=opinion.should_retry is False,
        already_retried=opinion.already_retried,
        signal=hit.signal if hit.rule.ours else "rule",
        strength=hit.strength,
        verdicts=_verdicts(opinion.hits, text),
    )


def _verdicts(hits: list[Hit], told: str) -> tuple[Verdict, ...]:
    if len(hits) > 1:
        hits = sorted(hits, key=_by_strength)[:_VERDICTS]
    return tuple(
        [
            Verdict(
                signal=hit.signal,
                observed=_observed(hit, told),
                category=hit.rule.category,
                code=hit.rule.code,
                strength=hit.strength,
            )
            for hit in hits
        ]
    )


def _by_strength(hit: Hit) -> int:
    return _STRENGTHS[hit.strength]


def _observed(hit: Hit, told: str) -> str:
    """What was seen, without secrets; ``told`` is the error's text without them, which most often quotes it."""
    observed = hit.observed
    if hit.signal in _OURS or (len(observed) <= _OBSERVED and observed in told):
        return observed
    return redact(observed, _OBSERVED)
