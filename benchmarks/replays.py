"""How well replay tells what another policy would have done, beside fleets that really ran under it.

    python benchmarks/replays.py [--seeds N]

Simulated, with nine outages of one service, all equally long or not. Two things are asked. Whether the outage model is
right: the same replay, told when each outage really ended, should lie in the interval. And whether replay as a
whole is: the fleet that really ran under the other policy differs also by chance, and by what replay cannot know,
as calls that would begin earlier than they were recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from benchmarks.fleet import Fleet
from benchmarks.plants import UNAVAILABLE, Trouble
from benchmarks.reading import opened
from otel_toolerrors.analysis.replay import Replayer, record
from otel_toolerrors.analysis.statistics import Interval
from otel_toolerrors.policy import Policy, parse_policy

_BASE = {"run": {"stop_on": [], "tool_failures": 50, "corrections_in_a_row": 50, "corrections": 50}}
_STEADY = Trouble("search", UNAVAILABLE, outages=tuple((start / 10, start / 10 + 0.01) for start in range(1, 10)))
_OTHERS = (
    "[tools.search.retry]\nmax_attempts = 2\n",
    "[breaker]\ncontrol = 'disabled'\n",
    "[tools.search.retry]\nmax_attempts = 5\nbase_delay = 1.0\n[breaker]\ncontrol = 'disabled'\n",
    "[tools.search.retry]\nmax_attempts = 4\nbase_delay = 4.0\n[services.search-api.breaker]\ncooldown = 5.0\n",
)
_ROUNDING = 0.5


@dataclass(frozen=True)
class Compared:
    """Failed calls under one policy: as replayed, with the true ends of outages, and in the fleet that really ran."""

    policy: str
    said: Interval
    told: float
    truth: int


def steady(_seed: int) -> Trouble:
    """Outages of 15 s."""
    return _STEADY


def uneven(seed: int) -> Trouble:
    """Outages of 15 s in the median, two thirds of them between 7 and 30 s."""
    random = Random(f"outages {seed}")
    lengths = [min(0.08, 0.01 * random.lognormvariate(0, 0.7)) for _ in _STEADY.outages]
    return replace(
        _STEADY, outages=tuple((begin, begin + long) for (begin, _), long in zip(_STEADY.outages, lengths, strict=True))
    )


def replays(trouble: Trouble, seed: int) -> Iterator[Compared]:
    """Record a fleet under the default policy, and compare the others."""
    recorded = fleet(seed=seed, trouble=trouble)
    replayer = Replayer.of(record(opened(recorded)))
    others = {text: fleet(text, seed=seed, trouble=trouble) for text in _OTHERS}
    said = {text: replayer.replay(other.policy).intervals["failed"] for text, other in others.items()}
    tell(replayer, recorded)
    for text, other in others.items():
        told = replayer.replay(other.policy, 5).failed
        truth = opened(other).sql("SELECT count(*) FROM calls WHERE outcome = 'surfaced'").fetchall()[0][0]
        yield Compared(text, said[text], told, truth)


def fleet(policy: str = "", *, seed: int = 3, trouble: Trouble = _STEADY) -> Fleet:
    """A fleet in which one service has outages, and no failure stops a run."""
    merged = Policy.model_validate({**_BASE, **parse_policy(policy).model_dump(exclude_unset=True)})
    return Fleet(runs=300, seed=seed, every=5.0, policy=merged, ordinary=(trouble,))


def tell(replayer: Replayer, recorded: Fleet) -> None:
    """Tell a replayer when each outage of the fleet really ended, in place of its model."""
    ends = [end for trouble in recorded.troubles for _, end in trouble.outages]
    known = {
        bracket.spell: min((end for end in ends if end > bracket.failed), default=bracket.failed)
        for bracket in replayer.outages.brackets.values()
    }
    replayer.outages.recoveries = lambda _replica: known  # type: ignore[method-assign]


def lines(seeds: int) -> Iterator[str]:
    """Tables in Markdown, and what they come to."""
    for name, make in (("Outages of 15 s", steady), ("Outages of many lengths", uneven)):
        rows = [row for seed in range(seeds) for row in replays(make(seed), seed)]
        yield f"**{name}**. Failed calls:\n"
        yield "| policy | replay | nine times in ten | replay, told the true ends | the fleet that ran |"
        yield "| --- | --- | --- | --- | --- |"
        for row in rows:
            words, said = "; ".join(row.policy.split("\n")[:-1]), row.said
            yield f"| `{words}` | {said.value:.0f} | {said.low:.0f}–{said.high:.0f} | {row.told:.0f} | {row.truth} |"
        for what, true in (("what it says when told the true ends", "told"), ("the fleet that really ran", "truth")):
            yield "\n" + _summary(rows, what, true)
        yield ""


def _summary(rows: list[Compared], what: str, true: str) -> str:
    pairs = [(row.said, getattr(row, true)) for row in rows]
    held = sum(said.low - _ROUNDING <= value <= said.high + _ROUNDING for said, value in pairs)
    above, below = (sum(sign * (said.value - value) > _ROUNDING for said, value in pairs) for sign in (1, -1))
    mean = sum(said.value - value for said, value in pairs) / len(pairs)
    off = sum(abs(said.value - value) for said, value in pairs) / len(pairs)
    return (
        f"Against {what}: {held} of {len(rows)} intervals hold it; replay is above in {above} and below in {below}, by "
        f"{mean:+.1f} calls on average; it is off by {off:.1f}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    for line in lines(parser.parse_args().seeds):
        print(line, flush=True)
