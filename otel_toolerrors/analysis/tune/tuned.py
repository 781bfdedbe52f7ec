"""What tuning gives: a proposed policy, and what speaks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_toolerrors.analysis.patch import Change, Patch, comment, leaves, render
from otel_toolerrors.analysis.replay import Replayed
from otel_toolerrors.policy import Policy

from .knobs import changed


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that the search proposed and the held-out runs did not support."""

    change: Change
    why: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy that was judged on the held-out runs."""

    name: str
    """``in force``, ``tuned``, or how it weighs load and waiting."""
    changes: tuple[Change, ...]
    measures: Replayed


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Before and after, on one part of the runs."""

    runs: int
    before: Replayed
    after: Replayed


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """A proposed policy, and what speaks for it."""

    base: Policy
    changes: tuple[Change, ...]
    """Each with the reason for its number."""
    refused: tuple[Refusal, ...]
    fit: Comparison
    held_out: Comparison
    candidates: tuple[Candidate, ...]
    """The policy in force, the tuned one, and what other weights would have chosen."""
    tried: int
    """Settings that the search replayed."""

    @property
    def policy(self) -> Policy:
        """The base policy with the changes."""
        return changed(self.base, self.changes)

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The candidates that none beats in failed calls, added latency and wasted attempts at once."""
        return pareto(self.candidates)

    @property
    def price(self) -> float | None:
        """Seconds of waiting that each failed call fewer costs on the held-out runs; None if none is saved or spent."""
        before, after = self.held_out.before, self.held_out.after
        saved = before.failed + before.cut_off - after.failed - after.cut_off
        spent = after.added_latency - before.added_latency
        return spent / saved if saved > 0 and spent > 0 else None

    @property
    def patch(self) -> Patch:
        """The changes as a patch to the policy."""
        return Patch("policy", self.changes)

    def toml(self) -> str:
        """The whole policy file, with the reason above each tuned number."""
        tuned = {change.path for change in self.changes}
        kept = [
            Change(path, value) for path, value in leaves(self.base.model_dump(exclude_unset=True)) if path not in tuned
        ]
        notes = [comment(f"Not changed: {_dotted(one.change)}: {one.why}") for one in self.refused]
        return "\n\n".join([comment(self.headline()), *notes, render([*kept, *self.changes])]).rstrip() + "\n"

    def write(self, path: str | Path) -> Path:
        """Write the policy file, and give its path. An existing file is not overwritten.

        Raises:
            FileExistsError: There is a file already.
        """
        target = Path(path)
        with target.open("x", encoding="utf-8") as file:
            file.write(self.toml())
        return target

    def headline(self) -> str:
        """One sentence on what the held-out runs say."""
        held = self.held_out
        if not self.changes:
            return f"Tuned by replay: the {held.runs} held-out runs support no change."
        return (
            f"Tuned by replay on {self.fit.runs} runs; on {held.runs} later ones: failed and cut-off calls "
            f"{held.before.failed + held.before.cut_off:.1f} -> {held.after.failed + held.after.cut_off:.1f}, "
            f"wasted attempts {held.before.wasted_attempts:.1f} -> {held.after.wasted_attempts:.1f}, "
            f"added latency {held.before.added_latency:.0f} s -> {held.after.added_latency:.0f} s "
            f"({held.after.modelled:.0%} of the calls modelled)."
        )


def pareto(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that no other beats in everything."""

    def key(candidate: Candidate) -> tuple[float, float, float]:
        measures = candidate.measures
        return measures.failed + measures.cut_off, measures.added_latency, measures.wasted_attempts

    front: list[Candidate] = []
    for candidate in sorted(candidates, key=key):
        if not any(all(a <= b for a, b in zip(key(kept), key(candidate), strict=True)) for kept in front):
            front.append(candidate)
    return tuple(front)


def _dotted(change: Change) -> str:
    return f"{'.'.join(change.path)} = {change.value}"
