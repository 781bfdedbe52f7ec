"""``toolerrors demo``: the whole loop on loopback, from faults to a better policy and back."""

from __future__ import annotations

import logging
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from otel_toolerrors.policy import Policy

from .analyze import show_findings, summary
from .codes import Unusable
from .screen import Screen
from .traces import opened
from .tune import show_tuned

if TYPE_CHECKING:
    from otel_toolerrors.analysis.tune import Tuned
    from otel_toolerrors.demo.rounds import Case, Round, Setting
    from otel_toolerrors.demo.scores import Line, Scores

_POLICY = "toolerrors.tuned.toml"
_OURS = ("before", "after", "check-before", "check-after", "pictures", _POLICY)
"""What a demo writes; an earlier demo's are replaced."""
_VERDICTS = {"better": "green", "worse": "red", "same": "dim"}


def demo(
    *,
    seed: Annotated[int, typer.Option(help="Other seeds, other faults; the same seed, the same course.")] = 1,
    keep: Annotated[Path, typer.Option(help="Where traces, policy and pictures go.")] = Path(".toolerrors/demo"),
    tasks: Annotated[int, typer.Option(min=20, max=5000, help="Tasks for the agent.")] = 300,
) -> None:
    """Play the whole loop: break, recover, record, analyse, tune.

    Tools are broken on purpose; at the end the same tasks run again under the tuned policy.
    """
    _need_extras()
    from otel_toolerrors.demo.plan import default_plan
    from otel_toolerrors.demo.rounds import Case, Setting, demo_catalog

    logging.getLogger("otel_toolerrors").addHandler(logging.NullHandler())  # it warns of the old catalog, as it should
    screen, began = Screen(), perf_counter()
    _clear(keep)
    setting = Setting(plan=default_plan(), catalog=demo_catalog(), tasks=tasks)
    _introduce(screen, setting, seed)
    played, before = _play(
        screen, "The tasks, under the default policy", setting, Case(Policy(), seed, keep / "before")
    )
    _say_what_went_wrong(screen, played)
    example, tuned = _learn(screen, keep)
    rounds = (
        ("The same tasks and faults, under the tuned policy", tuned.policy, seed, "after"),
        ("Other tasks and faults, under the default policy", Policy(), seed + 1, "check-before"),
        ("Other tasks and faults, under the tuned policy", tuned.policy, seed + 1, "check-after"),
    )
    others = [
        _play(screen, text, setting, Case(policy, number, keep / name))[1] for text, policy, number, name in rounds
    ]
    shown = [(before, others[0]), (others[1], others[2])]
    _compare(screen, shown, seed)
    _point_on(screen, keep, example, perf_counter() - began)


def _need_extras() -> None:
    """Fail before the work, not after it."""
    missing = [name for name in ("altair", "duckdb", "httpx", "opentelemetry.sdk", "vl_convert") if not find_spec(name)]
    if missing:
        raise Unusable(f"{', '.join(missing)}: not installed. Run: pip install 'otel-toolerrors[demo]'")


def _clear(keep: Path) -> None:
    """Remove what an earlier demo left, and nothing else."""
    if keep.exists() and not keep.is_dir():
        raise Unusable(f"{keep}: is a file. Name a folder with --keep.")
    for name in _OURS:
        path = keep / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _introduce(screen: Screen, setting: Setting, seed: int) -> None:
    services = ", ".join(service.name for service in setting.plan.service)
    screen.say(
        f"An order desk: {setting.tasks} tasks, done by a scripted agent. No language model is involved.", "bold"
    )
    screen.say("Its tools make real HTTP calls to a real server on loopback, which misbehaves as planned.")
    screen.say(f"Its services: {services}.")
    screen.say(f"Waits are simulated: the clock jumps over them. Seed {seed}; others choose other faults.")


def _play(screen: Screen, text: str, setting: Setting, case: Case) -> tuple[Round, Scores]:
    from otel_toolerrors.demo.rounds import play
    from otel_toolerrors.demo.scores import scores

    screen.title(text)
    began = perf_counter()
    with screen.progress("Playing"):
        played = play(setting, case)
        with opened(str(case.traces)) as traces:
            counted, line = scores(traces, played), summary(traces)
    screen.say(line)
    if played.dropped:
        screen.say(
            f"Not all of it reached the trace files: {played.dropped}. The numbers below are too small.", "yellow"
        )
    screen.say(f"{played.seconds / 60:.0f} simulated minutes, {perf_counter() - began:.1f} s real.", "dim")
    return played, counted


def _say_what_went_wrong(screen: Screen, played: Round) -> None:
    rows = sorted(played.struck.items(), key=lambda item: -item[1])
    screen.table(["planned fault", "struck"], rows, right=["struck"])
    lost, twice = played.ledger.unanswered, played.ledger.duplicates
    screen.say(f"{lost} writes took effect although their answer never came; {twice} took effect twice.")


def _learn(screen: Screen, keep: Path) -> tuple[str, Tuned]:
    """Analyse and tune on the first round's traces; give an example trace and what the tuner found."""
    from otel_toolerrors.demo.pictures import draw, telling_trace

    with opened(str(keep / "before")) as traces:
        show_findings(screen, traces.findings(), details=False)
        screen.title("Tuning: the traces, replayed through the same engine under other policies")
        with screen.progress("Replaying") as progress:
            tuned: Tuned = traces.tune(progress=progress)
        tuned.write(keep / _POLICY)
        show_tuned(screen, tuned)
        example = telling_trace(traces)
        with screen.progress("Drawing"):
            draw(traces, tuned, keep / "pictures")
    return example, tuned


def _compare(screen: Screen, shown: list[tuple[Scores, Scores]], seed: int) -> None:
    from otel_toolerrors.demo.scores import compared

    screen.title("Before and after, as it really went")
    same, other = ([*compared(*pair)] for pair in shown)
    columns = ["", "default", "tuned", f"seed {seed}", "default ", "tuned ", f"seed {seed + 1}"]
    rows = [(a.label, *_cells(a), *_cells(b)) for a, b in zip(same, other, strict=True)]
    screen.table(columns, rows, right=["default", "tuned", "default ", "tuned "])
    screen.say(
        f"The policy was tuned on seed {seed}. Seed {seed + 1} has other faults and tasks: the tuner never saw them."
    )
    worse = [f"{line.label} ({line.before:.0f} -> {line.after:.0f})" for line in other if line.verdict == "worse"]
    if worse:
        screen.say(f"What it costs on seed {seed + 1}: {'; '.join(worse)}.")
        screen.say("Runs that get further also make more calls. Duplicate writes are counted by the server.")


def _cells(line: Line) -> tuple[str, str, tuple[str, str]]:
    return f"{line.before:.0f}", f"{line.after:.0f}", (line.verdict, _VERDICTS[line.verdict])


def _point_on(screen: Screen, keep: Path, example: str, seconds: float) -> None:
    screen.title("Where to look")
    program = "toolerrors" if shutil.which("toolerrors") else sys.argv[0]  # make calls it by its path
    curve = keep / "pictures" / "tuning-light.svg"
    rows = [
        ("a picture of a run", keep / "pictures" / "trace-light.svg"),
        ("the same run here", f"{program} show {example[:8]} {keep / 'before'}"),
        ("the findings, explained", f"{program} analyze {keep / 'before'} --details"),
        ("the tuned policy", keep / _POLICY),
        *([("what one of its numbers does", curve)] if curve.exists() else []),
    ]
    screen.table(["what", "where"], rows)
    screen.say("The same traces in Jaeger:")
    screen.say("  docker run --rm -d -p 127.0.0.1:16686:16686 -p 127.0.0.1:4318:4318 jaegertracing/jaeger")
    screen.say(f'  for file in {keep / "before"}/*.jsonl; do while IFS= read -r line; do printf %s "$line" |')
    screen.say(
        "    curl -sS -o /dev/null -H 'Content-Type: application/json' --data-binary @- localhost:4318/v1/traces;"
    )
    screen.say('  done < "$file"; done   # then open http://localhost:16686')
    screen.say(f"Done in {seconds:.0f} s.", "dim")
