"""Whether the intervals of findings hold what they should, as often as they say: 95 times in 100.

Simulated. Fleets with one planted cause, which differ in their seed alone. What an interval should hold is what all of
them together show: the value that more and more data would lead to. So this judges the intervals, and not whether the
rule of a finding asks the right question; `benchmarks/findings.py` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import inf
from random import Random

from benchmarks.fleet import fleets
from benchmarks.plants import BROKEN_QUERY, PATIENT_RUN, PLANTS, Plant, Trouble
from benchmarks.reading import opened
from otel_toolerrors.analysis import Traces
from otel_toolerrors.analysis.findings import DETECTORS, Options
from otel_toolerrors.analysis.findings.tested import Tested, significant
from otel_toolerrors.analysis.statistics import Interval, wilson


def sometimes(share: float) -> Callable[[Random], float]:
    """It passes at once in this share of the cases, and never in the others."""
    return lambda random: 0.05 if random.random() < share else inf


def _with(name: str, **changes: object) -> Plant:
    plant = PLANTS[name]
    return replace(plant, troubles=tuple(replace(trouble, **changes) for trouble in plant.troubles))


STUDIES = {
    "misclassified_should_retry": _with("should_retry", share=0.1, heals=sometimes(0.7)),
    "misclassified_should_not_retry": replace(
        PLANTS["should_not_retry"], troubles=(Trouble("query", BROKEN_QUERY, 0.1, heals=sometimes(0.06)),),
        policy=PATIENT_RUN,
    ),
    "stale_suggestion": _with("misleading_hint", heals=sometimes(0.3)),
    "injection_effect": PLANTS["helpful_context"],
    "regression": PLANTS["new_release"],
}  # fmt: skip
"""One cause for each kind whose findings carry an interval, with a share that is neither none nor all."""


@dataclass(frozen=True)
class Estimate:
    """What one fleet gave."""

    interval: Interval
    reported: bool
    """Whether it became a finding; what is reported is the more striking part of what is estimated."""


def estimate(kind: str, runs: int, seed: int) -> Estimate | None:
    """The interval on the planted cause in one fleet; None if the evidence was too thin for one."""
    plant = STUDIES[kind]
    traces: Traces = opened(*fleets(plant, runs=runs, seed=10_000 + seed))
    candidates = list(DETECTORS[kind](traces, Options()))
    reported = significant(candidates, Options().false_discoveries)
    for candidate in candidates:
        finding = candidate.finding if isinstance(candidate, Tested) else candidate
        about = finding and plant.about in (finding.tool, finding.code, finding.service, "")
        if finding is not None and about and finding.interval is not None:
            return Estimate(finding.interval, finding in reported)
    return None


def coverage(volumes: Sequence[int], seeds: int, workers: int) -> Iterator[tuple[str, int, float, Interval, str]]:
    """For each kind and volume: what is estimated, the share of intervals that hold it, and that of reported ones."""
    cases = [(kind, runs) for kind in STUDIES for runs in volumes]
    with ProcessPoolExecutor(workers) as pool:
        jobs = {case: [pool.submit(estimate, *case, seed) for seed in range(seeds)] for case in cases}
        for (kind, runs), futures in jobs.items():
            found = [one for future in futures if (one := future.result()) is not None]
            if not found:
                continue
            truth = sum(one.interval.value for one in found) / len(found)
            held = [one for one in found if one.interval.low <= truth <= one.interval.high]
            reported = sum(one.reported for one in found)
            told = f"{sum(one.reported for one in held)} of {reported}"
            yield kind, runs, truth, wilson(len(held), len(found)), told
