"""What one exception, with everything inside it, amounts to.

Each exception of a chain is read by itself. Where it is vague, its causes speak;
the members of a group are heard all, and the worst decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from otel_toolerrors.vocabulary import SideEffects

from . import arbitration, settling
from .control_flow import is_control_flow
from .evidence import BODY, BODY_NAMES, HEADER, HINT, HINT_NAMES, NUMBER, STATUS, WAIT, WAIT_NAMES, Evidence, Hit
from .rules import Rule, RuleSet
from .signals import body, classes, codes, headers, location, message, nested, numbers, status, system

_MAX_NODES: Final = 40
_MAX_DEPTH: Final = 12
_STDERR: Final = 2_000
_NOT_SENT: Final = ("pool", "dns", "connect", "tls")
"""Phases, where a library names the one it failed in, before a request is sent."""
_WORST_FIRST: Final = (
    "bug",
    "permission",
    "permanent",
    "validation",
    "not_found",
    "unknown",
    "rate_limited",
    "transient",
    "cancelled",
)

_CANCELLED_INSIDE: Final = Rule(
    code="cancelled.inside",
    category="unknown",
    passing=False,
    why="The tool turned its cancellation into an error.",
    ours=True,
)


@dataclass(slots=True)
class Opinion:
    """The hit that decides, the others, and what goes with it."""

    hit: Hit | None = None
    hits: list[Hit] = field(default_factory=list)
    http_status: int | None = None
    retry_after: float | None = None
    text: str = ""
    passing: bool = False
    side_effects: SideEffects = "unknown"
    should_retry: bool | None = None
    """The server's own word, if it said one."""
    hint: bool | None = None
    """The library's."""
    already_retried: bool = False
    connecting: bool = False
    """Raised while the connection was being made."""
    own_words: bool = False
    """The text is a library's about itself, not a server's or a tool's."""
    sent: bool = False
    """Something in the chain shows that a request had left."""


class Walk:
    """Bounds and memory of one walk through an exception's insides."""

    __slots__ = ("left", "now", "rules", "seen")

    def __init__(self, rules: RuleSet, now: float) -> None:
        """Start with a fresh memory."""
        self.rules = rules
        self.now = now
        self.left = _MAX_NODES
        self.seen: set[int] = set()

    def enter(self, exc: BaseException, depth: int) -> bool:
        """Whether the exception may still be looked at."""
        if self.left <= 0 or depth > _MAX_DEPTH or id(exc) in self.seen:
            return False
        self.left -= 1
        self.seen.add(id(exc))
        return True


def of_exception(exc: BaseException, walk: Walk, depth: int = 0) -> Opinion | None:
    """The opinion on an exception; None if the walk's bounds are reached."""
    if not walk.enter(exc, depth):
        return None
    evidence = Evidence(exc)
    own = _by_itself(evidence, walk)
    if members := nested.members(exc):
        heard = [found for member in members if (found := of_exception(member, walk, depth + 1)) is not None]
        if heard:
            return _of_group(own, heard)
    _hear_causes(evidence, own, walk, depth)
    settling.settle(own)
    return own


def of_parts(
    *,
    said: body.Said | None,
    text: str,
    http_status: int | None,
    found: dict[str, str],
    exit_status: int | None,
    walk: Walk,
) -> Opinion:
    """The opinion on an error that was not raised: a body, a text, a status, headers, an exit status."""
    rules = walk.rules
    status_ = http_status if http_status is not None or said is None else said.status
    hits = [*codes.said_hits(said, rules), *numbers.said_hits(said, rules), *status.hits(status_, rules)]
    if exit_status and (rule := rules.number("exit", exit_status)) is not None:
        hits.append(Hit("code", f"exit {exit_status}", rule, "strong"))
    text = with_message(text, said)
    hits += message.hits(text, status_, rules)
    own = Opinion(arbitration.choose(hits), hits, status_, text=text, should_retry=headers.should_retry(found))
    _read_wait(own, {}, said, found, walk)
    settling.settle(own)
    return own


def with_message(text: str, said: body.Said | None) -> str:
    """The text, and what the server said where the text lacks it: that helps more than the error's name."""
    if said is None or not said.message or said.message in text:
        return text
    return f"{text}: {said.message}" if text else said.message


def _by_itself(evidence: Evidence, walk: Walk) -> Opinion:
    rules = walk.rules
    attrs = evidence.attrs
    said = _body(evidence) if evidence.has(BODY) else None
    found = headers.headers_of(evidence) if evidence.has(HEADER) else {}
    http_status = status.read_status(evidence) if evidence.has(STATUS) else None
    if http_status is None and said is not None:
        http_status = said.status
    hits = [*codes.hits(evidence, said, rules), *status.hits(http_status, rules)]
    if evidence.has(NUMBER) or evidence.profile.speaks or said is not None:
        hits += [*numbers.hits(evidence, said, rules), *system.hits(evidence, rules)]
    types = classes.hits(evidence, rules)
    hits += types
    if evidence.profile.located and not any(arbitration.definite(hit) for hit in hits):
        hits += location.hits(evidence, rules)
    text = with_message(evidence.text, said)
    hits += message.hits(_with_stderr(text, attrs.get("stderr")), http_status, rules)

    own = Opinion(arbitration.choose(hits), hits, http_status, text=text)
    own.already_retried = any(hit.rule.code == "gave_up" for hit in types)
    if found:
        own.should_retry = headers.should_retry(found)
    if evidence.has(HINT):
        own.hint = next((hint for name in HINT_NAMES if type(hint := attrs.get(name)) is bool), None)
    _note_proofs(own, evidence, said)
    _read_wait(own, attrs if evidence.has(WAIT) else {}, said, found, walk)
    return own


def _note_proofs(own: Opinion, evidence: Evidence, said: body.Said | None) -> None:
    """Look for what may prove that nothing was sent, where that can matter."""
    hit = own.hit
    if hit is None or arbitration.definite(hit):
        return
    if hit.rule.own_words:
        own.own_words = own.http_status is None and said is None and location.library_speaks(evidence)
    if arbitration.family(hit.rule.code) == "transport":
        own.connecting = evidence.attrs.get("phase") in _NOT_SENT or location.while_connecting(evidence.exc)


def _body(evidence: Evidence) -> body.Said | None:
    """What a server said, on the exception or in its response."""
    attrs = evidence.attrs
    bodies: list[object] = [
        value for name in BODY_NAMES if isinstance(value := attrs.get(name), (dict, list, bytes, str))
    ]
    bodies += [r if isinstance(r, dict) else body.loaded_body(r) for r in evidence.responses()]
    for value in bodies:
        if value and (found := body.said(value)).anything:
            return found
    return None


def _with_stderr(text: str, stderr: object) -> str:
    """The text and the end of what a process wrote to its error stream."""
    if isinstance(stderr, bytes):
        stderr = stderr[-_STDERR:].decode("utf-8", "replace")
    return f"{text}\n{stderr[-_STDERR:]}" if isinstance(stderr, str) and stderr else text


def _read_wait(own: Opinion, attrs: dict[str, Any], said: body.Said | None, found: dict[str, str], walk: Walk) -> None:
    """How long the server wants us to wait; a 403 with such a wish is a rate limit."""
    wait = headers.retry_after(found, walk.now) if found else None
    if wait is None and attrs:
        wait = next(
            (
                s / (1000 if name.endswith("_ms") else 1)
                for name in WAIT_NAMES
                if (s := headers.seconds(attrs.get(name))) is not None
            ),
            None,
        )
    if wait is None and said is not None:
        wait = headers.seconds(said.retry_after)
    reached = headers.limit_reached(found) if found else False
    if (
        own.hit is not None
        and own.hit.rule.code in ("http.403", "auth.denied")
        and own.http_status == 403
        and (wait is not None or reached)
    ):
        limit = walk.rules.number("status", 429)
        if limit is not None:
            own.hit = Hit("header", "403 with a wait", limit, "strong")
            own.hits.append(own.hit)
    if wait is None and own.hit is not None and own.hit.rule.category == "rate_limited":
        wait = headers.reset_after(found, walk.now) if reached else None
        wait = message.retry_after(own.text) if wait is None else wait
    own.retry_after = wait


def _hear_causes(evidence: Evidence, own: Opinion, walk: Walk, depth: int) -> None:
    """Let the causes speak where the exception is vague; note what shows that a request had left."""
    inner = [(exc, True) for exc in nested.causes(evidence)]
    if (context := nested.context(evidence.exc)) is not None:
        inner.append((context, False))
    for exc, explicit in inner:
        if is_control_flow(exc):
            if own.hit is None and explicit:
                own.hit = Hit("chain", type(exc).__qualname__, _CANCELLED_INSIDE, "strong")
            continue
        cause = of_exception(exc, walk, depth + 1)
        if cause is None:
            continue
        own.sent = own.sent or cause.sent
        own.already_retried = own.already_retried or cause.already_retried
        own.connecting = own.connecting or (cause.connecting and explicit)
        if cause.hit is not None and arbitration.yields_to(own.hit, cause.hit, explicit=explicit):
            _adopt(own, cause, cause.hit)


def _adopt(own: Opinion, cause: Opinion, hit: Hit) -> None:
    own.hits.append(Hit("chain", hit.observed, hit.rule, hit.strength))
    own.hit = hit
    own.connecting, own.own_words = cause.connecting, cause.own_words
    own.retry_after = cause.retry_after if own.retry_after is None else own.retry_after
    own.should_retry = cause.should_retry if own.should_retry is None else own.should_retry
    own.hint = cause.hint if own.hint is None else own.hint
    own.http_status = cause.http_status if own.http_status is None else own.http_status


def _of_group(own: Opinion, members: list[Opinion]) -> Opinion:
    """One member that never works makes the whole fail again; the longest wait counts."""
    worst = min(
        members, key=lambda m: (m.passing, _WORST_FIRST.index(m.hit.rule.category if m.hit is not None else "unknown"))
    )
    waits = [m.retry_after for m in members if m.retry_after is not None]
    states = {m.side_effects for m in members}
    return Opinion(
        worst.hit,
        own.hits + [hit for m in members for hit in m.hits],
        http_status=worst.http_status,
        retry_after=max(waits, default=None),
        text=own.text,
        passing=worst.passing,
        side_effects="none" if states == {"none"} else "committed" if "committed" in states else "unknown",
        should_retry=worst.should_retry,
        already_retried=any(m.already_retried for m in members),
        sent=any(m.sent for m in members),
    )
