"""A decision, signal by signal: what a person reads to see why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolerrors.vocabulary import Effects

from .classify import classify
from .fault import Fault, Verdict
from .rules import Rule, RuleSet, rule_set


@dataclass(frozen=True, slots=True)
class Explanation:
    """A fault, the rule that decided, and what every signal said."""

    fault: Fault
    rule: Rule | None
    """None where no rule matched."""
    verdicts: tuple[Verdict, ...]
    """All verdicts, strongest first; `fault.dissent` names those that lost over the category."""

    def lines(self) -> list[str]:
        """The decision as text, one thought a line."""
        fault = self.fault
        said = [f"{fault.category} · {fault.code} · decided by {fault.signal} ({fault.strength})"]
        said.append(f"retry: {_advice(fault)}")
        said.append(f"side effects of a write: {fault.side_effects}")
        if self.rule is not None and self.rule.why:
            said.append(f"why: {self.rule.why}")
        if self.rule is not None and self.rule.source:
            said.append(f"source: {self.rule.source}")
        said += [f"  {v.signal:<9} {v.strength:<8} {v.category:<13} {v.code:<26} {v.observed}" for v in self.verdicts]
        return said


def explain(
    error: BaseException | Fault,
    *,
    effects: Effects = "read",
    rules: RuleSet | Sequence[Rule] | None = None,
    now: float | None = None,
) -> Explanation:
    """Why an exception (or an already classified fault) is classified as it is."""
    fault = error if isinstance(error, Fault) else classify(error, effects=effects, rules=rules, now=now)
    return Explanation(fault, _deciding_rule(fault, rule_set(rules)), fault.verdicts)


def _deciding_rule(fault: Fault, rules: RuleSet) -> Rule | None:
    if fault.signal == "status" and fault.code.startswith("http."):
        return rules.number("status", int(fault.code.removeprefix("http.")))
    return next((rule for rule in rules.rules if rule.code == fault.code), None)


def _advice(fault: Fault) -> str:
    if fault.refused_by_server:
        return "no, the server says not to"
    if not fault.passing:
        return "no, it does not pass by itself"
    wait = f", after {fault.retry_after:g} s" if fault.retry_after is not None else ""
    return f"yes{wait}" if fault.retryable else "not without an idempotency key: the write may have happened"
