"""An exception becomes a `Fault`: read the signals, let them arbitrate, look up the side effects."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolerrors.vocabulary import Effects, SideEffects

from . import arbitration
from .control_flow import is_control_flow
from .evidence import Evidence, Hit
from .fault import Fault, Verdict
from .fingerprint import fingerprint
from .redaction import redact
from .rules import Rule, RuleSet, phrase, rule_set
from .signals import body, classes, codes, headers, location, message, nested, status, system

_MAX_NODES = 40
_MAX_DEPTH = 12
_SENT = frozenset({"timeout.read", "timeout.write", "connection.reset"})
_STRENGTHS = {"certain": 0, "strong": 1, "weak": 2}
_WORST_FIRST = ("bug", "permission", "permanent", "validation", "not_found", "unknown", "rate_limited", "transient")

UNKNOWN = Rule(
    code="unknown", category="unknown", passing=False, side_effects="unknown", why="Nothing tells.", ours=True
)
CANCELLED = Rule(
    code="cancelled",
    category="cancelled",
    passing=False,
    side_effects="unknown",
    why="Control flow: to be re-raised.",
    ours=True,
)


@dataclass(slots=True)
class Opinion:
    """What one exception and everything inside it amount to."""

    hit: Hit | None
    hits: list[Hit] = field(default_factory=list)
    http_status: int | None = None
    retry_after: float | None = None
    should_retry: bool | None = None
    already_retried: bool = False
    sent: bool = False
    connecting: bool = False
    own_words: bool = False
    side_effects: SideEffects = "unknown"
    passing: bool = False
    text: str = ""


@dataclass(slots=True)
class _Walk:
    """Bounds and memory of one walk through an exception's insides."""

    rules: RuleSet
    now: float
    left: int = _MAX_NODES
    seen: set[int] = field(default_factory=set)


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
        kind = type(exc)
        return _fault(exc, Opinion(Hit("type", kind.__qualname__, CANCELLED, "certain")), effects)
    walk = _Walk(rule_set(rules), time.time() if now is None else now)
    return _fault(exc, _opinion(exc, walk, 0), effects)


def _opinion(exc: BaseException, walk: _Walk, depth: int) -> Opinion:
    walk.left -= 1
    walk.seen.add(id(exc))
    evidence = Evidence(exc)
    own = _own(evidence, walk)
    if members := nested.members(exc):
        group = _worst(
            [
                _opinion(m, walk, depth + 1)
                for m in members
                if id(m) not in walk.seen and walk.left > 0 and depth < _MAX_DEPTH
            ]
        )
        if group is not None:
            group.hits = own.hits + group.hits
            group.text = own.text
            return group
    _consult(evidence, own, walk, depth)
    _settle(own)
    return own


def _own(evidence: Evidence, walk: _Walk) -> Opinion:
    """What the exception says by itself."""
    rules = walk.rules
    found = headers.headers_of(evidence)
    code_status = status.read_status(evidence)
    said = _body(evidence)
    if said is not None and code_status is None:
        code_status = said.status
    hits = [*codes.hits(evidence, said, rules), *status.hits(code_status, rules), *system.hits(evidence, rules)]
    types = list(classes.hits(evidence, rules))
    hits += types
    if (
        not types
        and evidence.kind.__module__ == "builtins"
        or issubclass(evidence.kind, (ValueError, KeyError, TypeError))
        and not any(arbitration.definite(h) for h in hits)
    ):
        hits += location.hits(evidence, rules)
    text = evidence.text
    if said is not None and said.message and said.message not in text:
        text = f"{text}: {said.message}" if text else said.message  # what the server said helps more than what it is called
    texts = text
    if (stderr := evidence.attrs.get("stderr")) and isinstance(stderr, (str, bytes)):
        texts += "\n" + (stderr if isinstance(stderr, str) else stderr.decode("utf-8", "replace"))[-2_000:]
    hits += message.hits(texts, code_status, rules)
    opinion = Opinion(arbitration.choose(hits), hits, code_status, text=text)
    opinion.should_retry = headers.should_retry(found)
    vague = opinion.hit is None or not arbitration.definite(opinion.hit)
    if vague:
        opinion.own_words = code_status is None and said is None and location.library_speaks(evidence)
        opinion.connecting = location.while_connecting(evidence.exc)
    opinion.already_retried = any(h.rule.code == "gave_up" for h in types)
    _read_waits(evidence, said, found, opinion, walk)
    return opinion


def _body(evidence: Evidence) -> body.Said | None:
    from .evidence import BODY_NAMES

    for name in BODY_NAMES:
        value = evidence.attrs.get(name)
        if (
            value is not None
            and isinstance(value, (dict, list, bytes, str))
            and (found := body.said(value))
            and (found.codes or found.message or found.numbers)
        ):
            return found
    for response in evidence.responses():
        value = response if isinstance(response, dict) else body.loaded_body(response)
        if value is not None and (found := body.said(value)) and (found.codes or found.message or found.numbers):
            return found
    return None


def _read_waits(
    evidence: Evidence, said: body.Said | None, found: dict[str, str], opinion: Opinion, walk: _Walk
) -> None:
    wait = headers.retry_after(found, walk.now) if found else None
    attrs = evidence.attrs
    if wait is None:
        for name, scale in (("retry_after", 1.0), ("retry_after_seconds", 1.0), ("retry_after_ms", 1000.0)):
            if (seconds := headers.seconds(attrs.get(name))) is not None:
                wait = seconds / scale
                break
    if wait is None and said is not None:
        wait = headers.seconds(said.retry_after)
    limited = opinion.hit is not None and opinion.hit.rule.category == "rate_limited"
    refused = opinion.http_status == 403 and (wait is not None or headers.limit_reached(found))
    if refused and opinion.hit is not None and opinion.hit.rule.code in ("http.403", "auth.denied"):
        rule = walk.rules.number("status", 429)
        if rule is not None:
            opinion.hit = Hit("header", "retry-after with 403", rule, "strong")
            opinion.hits.append(opinion.hit)
            limited = True
    if wait is None and limited:
        wait = headers.reset_after(found, walk.now) if headers.limit_reached(found) else None
        if wait is None:
            wait = message.retry_after(opinion.text)
    opinion.retry_after = wait


def _consult(evidence: Evidence, own: Opinion, walk: _Walk, depth: int) -> None:
    """Let the causes speak where the exception itself is vague, and note whether any shows that a request had been sent."""
    if depth >= _MAX_DEPTH:
        return
    inner = [(e, True) for e in nested.causes(evidence)]
    if (context := nested.context(evidence.exc)) is not None:
        inner.append((context, False))
    for exc, explicit in inner:
        if id(exc) in walk.seen or walk.left <= 0:
            continue
        if is_control_flow(exc):
            if own.hit is None and explicit:
                own.hit = Hit(
                    "chain",
                    type(exc).__qualname__,
                    Rule(code="cancelled.inside", category="unknown", passing=False, ours=True),
                    "strong",
                )
            continue
        cause = _opinion(exc, walk, depth + 1)
        own.sent = own.sent or cause.sent
        own.connecting = own.connecting or (cause.connecting and explicit)
        own.already_retried = own.already_retried or cause.already_retried
        if cause.hit is None:
            continue
        if arbitration.yields_to(own.hit, cause.hit, explicit=explicit):
            own.hits.append(Hit("chain", cause.hit.observed, cause.hit.rule, cause.hit.strength))
            own.hit = cause.hit
            own.connecting = cause.connecting
            own.own_words = cause.own_words
            own.retry_after = cause.retry_after if own.retry_after is None else own.retry_after
            own.should_retry = cause.should_retry if own.should_retry is None else own.should_retry
            if own.http_status is None:
                own.http_status = cause.http_status


def _settle(own: Opinion) -> None:
    """Advice and side effects of an opinion whose hit is final."""
    if own.hit is None:
        return
    rule = own.hit.rule
    own.passing = rule.passing if own.should_retry is None else own.should_retry
    effect: SideEffects = rule.side_effects
    if own.hit.strength == "weak" and effect == "none" and not (rule.own_words and own.own_words):
        effect = "unknown"  # prose proves nothing
    if effect == "unknown" and own.connecting and arbitration.family(rule.code) == "transport":
        effect = "none"
    status_ = own.http_status
    if status_ is not None and effect == "none" and 200 <= status_ < 300:
        effect = "unknown"
    if (
        status_ is not None
        and effect == "unknown"
        and 400 <= status_ < 500
        and (rule.category != "transient" or status_ == 429)
        and status_ not in (408, 499)
        and rule.code != "response.unreadable"
    ):
        effect = "none"  # whatever its finer meaning, the server refused
    if own.sent and effect == "none":
        effect = "unknown"  # an earlier request of the same call may have been carried out
    own.side_effects = effect
    own.sent = own.sent or rule.code in _SENT or (own.http_status or 0) >= 500


def from_parts(found: Any, *, effects: Effects, rules: RuleSet, now: float) -> Fault:
    """The fault of an error that was not raised: a body, a text, a status, headers, an exit status."""
    said = body.said(found.body) if found.body is not None else None
    status_ = found.http_status if found.http_status is not None else (said.status if said is not None else None)
    hits = [*codes.said_hits(said, rules), *status.hits(status_, rules)]
    if found.exit_status and (rule := rules.number("exit", found.exit_status)) is not None:
        hits.append(Hit("code", f"exit {found.exit_status}", rule, "strong"))
    texts = found.text if said is None or said.message in found.text else f"{found.text}\n{said.message}"
    hits += message.hits(texts, status_, rules)
    opinion = Opinion(arbitration.choose(hits), hits, status_, text=found.text or texts)
    opinion.should_retry = headers.should_retry(found.headers)
    wait = headers.retry_after(found.headers, now)
    if wait is None and said is not None:
        wait = headers.seconds(said.retry_after)
    if wait is None and opinion.hit is not None and opinion.hit.rule.category == "rate_limited":
        wait = message.retry_after(texts)
    opinion.retry_after = wait
    _settle(opinion)
    return _fault(None, opinion, effects)


def _worst(members: list[Opinion]) -> Opinion | None:
    if not members:
        return None
    for member in members:
        if member.hit is None:
            _settle(member)
    worst = min(members, key=lambda m: (m.passing, _WORST_FIRST.index(m.hit.rule.category) if m.hit else 5))
    waits = [m.retry_after for m in members if m.retry_after is not None]
    effects = {m.side_effects for m in members}
    return Opinion(
        worst.hit,
        [h for m in members for h in m.hits],
        http_status=worst.http_status,
        retry_after=max(waits, default=None),
        should_retry=worst.should_retry,
        already_retried=any(m.already_retried for m in members),
        sent=any(m.sent for m in members),
        side_effects="none" if effects == {"none"} else "committed" if "committed" in effects else "unknown",
        passing=worst.passing,
    )


def _fault(exc: BaseException | None, opinion: Opinion, effects: Effects) -> Fault:
    hit = opinion.hit or Hit("type" if exc is not None else "value", type(exc).__qualname__, UNKNOWN, "weak")
    rule = hit.rule
    code = f"http.{opinion.http_status}" if hit.signal == "status" else rule.code
    kind = None if exc is None else Evidence(exc).profile.qualified
    text = redact(opinion.text)
    return Fault(
        category=rule.category,
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
        signal=hit.signal,
        strength=hit.strength,
        verdicts=tuple(
            Verdict(
                signal=h.signal,
                observed=redact(h.observed, 120),
                category=h.rule.category,
                code=h.rule.code,
                strength=h.strength,
            )
            for h in sorted(opinion.hits, key=lambda h: _STRENGTHS[h.strength])
        ),
    )
