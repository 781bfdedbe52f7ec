"""Classifiers of errors, measured on labelled scenarios that make real libraries fail.

    python benchmarks/classify.py                                  # the scenarios in tests/scenarios
    python benchmarks/classify.py --scenarios FOLDER --misses      # another folder of the same form

Prints one table: ours, and what people use today where it is installed. A
scenario whose library is missing is counted as skipped. Each module runs in a
process of its own, which is given up after five minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import importlib
import inspect
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE.parent / "tests" / "scenarios"
TIMEOUT = 300
BATCHES, CALLS = 100, 5

Answer = tuple[str | None, bool, str | None, float | None]


# ------------------------------------------------------------------ classifiers


def ours(exc: BaseException, *, write: bool) -> Answer:
    """This package."""
    from otel_toolerrors.faults import classify  # noqa: PLC0415

    fault = classify(exc, effects="write" if write else "read")
    return fault.category, fault.retryable, fault.side_effects, fault.retry_after


def ours_afresh(exc: BaseException, *, write: bool) -> Answer:
    """This package, meeting the error's text for the first time."""
    from otel_toolerrors.faults import fingerprint, redaction, rules  # noqa: PLC0415

    rules.default_rule_set().heard.clear()
    redaction.clean.clear()
    inspect.getmodule(fingerprint).digest.cache_clear()  # type: ignore[union-attr]
    return ours(exc, write=write)


def langgraph(exc: BaseException, *, write: bool) -> Answer:
    """What a node's RetryPolicy retries by default."""
    from langgraph._internal._retry import default_retry_on  # noqa: PLC0415

    del write
    return None, isinstance(exc, Exception) and bool(default_retry_on(exc)), None, None


def langchain(exc: BaseException, *, write: bool) -> Answer:
    """What ToolRetryMiddleware retries by default."""
    from langchain.agents.middleware import ToolRetryMiddleware  # noqa: PLC0415

    del write
    kinds = ToolRetryMiddleware().retry_on
    return (
        None,
        bool(kinds(exc) if callable(kinds) and not isinstance(kinds, type) else isinstance(exc, kinds)),
        None,
        None,
    )


def api_core(exc: BaseException, *, write: bool) -> Answer:
    """What google.api_core.retry.Retry retries by default."""
    from google.api_core.retry import if_transient_error  # noqa: PLC0415

    del write
    return None, bool(if_transient_error(exc)), None, None


def tenacity(exc: BaseException, *, write: bool) -> Answer:
    """What tenacity.retry retries by default."""
    import tenacity as library  # noqa: PLC0415

    del write
    return None, bool(library.retry_if_exception_type().predicate(exc)), None, None


def llm_sdk(exc: BaseException, *, write: bool) -> Answer:
    """The rule that the LLM SDKs share: 408, 409, 429 and 5xx, as far as the exception has a status."""
    del write
    status = getattr(exc, "status_code", None) or getattr(getattr(exc, "response", None), "status_code", None)
    return None, isinstance(status, int) and (status in (408, 409, 429) or status >= 500), None, None


CLASSIFIERS: dict[str, Callable[..., Answer]] = {
    "otel_toolerrors": ours,
    "otel_toolerrors, a text not met before": ours_afresh,
    "langgraph": langgraph,
    "langchain": langchain,
    "google.api_core": api_core,
    "tenacity": tenacity,
    "LLM SDK status rule": llm_sdk,
}


# ------------------------------------------------------------------- one module


def run_module(path: Path) -> None:
    """Run a module's scenarios; one JSON record a line on standard output."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the libraries print is no record
    sys.path[:0] = [str(path.parent.parent), str(path.parent)]
    if not (path.parent.parent / "registry.py").exists():
        sys.modules["registry"] = importlib.import_module("_registry")
    registry = importlib.import_module("registry")
    try:
        importlib.import_module(path.stem)
    except ImportError as missing:
        out.write(json.dumps({"id": path.stem, "skipped": str(missing)}) + "\n")
        return
    usable = dict(_installed())
    for found in list(registry.REGISTRY.values()):
        if found.func.__module__ == path.stem and not found.returns:
            out.write(json.dumps(observe(found, registry.Skip, usable)) + "\n")
    out.flush()
    os._exit(0)  # threads that linger must not keep us


def _installed() -> Iterator[tuple[str, Callable[..., Answer]]]:
    for name, classifier in CLASSIFIERS.items():
        try:
            classifier(ValueError("x"), write=False)
        except ImportError:
            continue
        yield name, classifier


def observe(found: Any, skip: type[Exception], usable: dict[str, Callable[..., Answer]]) -> dict[str, Any]:
    """Run one scenario and ask every classifier."""
    record: dict[str, Any] = {"id": found.id, "lib": found.lib, "constructed": found.constructed}
    try:
        asyncio.run(found.func()) if inspect.iscoroutinefunction(found.func) else found.func()
    except (ImportError, skip) as missing:
        if found.raises is None or type(missing).__name__ not in found.raises:
            return record | {"skipped": str(missing)}
        exc: BaseException = missing
    except BaseException as error:  # noqa: BLE001 - every exception is a result here
        exc = error
    else:
        return record | {"skipped": "it raised nothing"}
    answers = {}
    for name, classifier in usable.items():
        read, write = classifier(exc, write=False), classifier(exc, write=True)
        micros = min(_batch(classifier, exc) for _ in range(BATCHES)) / CALLS * 1e6
        answers[name] = {
            "category": read[0],
            "read": read[1],
            "write": write[1],
            "state": write[2],
            "wait": read[3],
            "micros": micros,
        }
    chained = exc.__cause__ is not None or exc.__context__ is not None
    label = {
        "category": sorted(found.category),
        "read": found.retryable_read,
        "state": sorted(found.side_effect_state),
        "wait": found.retry_after_s,
    }
    return record | {"label": label, "chained": chained, "answers": answers}


def _batch(classifier: Callable[..., Answer], exc: BaseException) -> float:
    """CPU seconds of this thread for some calls; the least of several batches is what a busy machine spoils least."""
    begun = time.thread_time()
    for _ in range(CALLS):
        classifier(exc, write=False)
    return time.thread_time() - begun


# ----------------------------------------------------------------------- scores


COLUMNS = (
    "category",
    "false retry",
    "missed retry",
    "unsafe write retry",
    "side effects",
    "wrongly none",
    "Retry-After",
)


def judged(answer: dict[str, Any], label: dict[str, Any]) -> Iterator[tuple[str, bool, bool]]:
    """(column, counted, wrong) for everything that the answer and the label both speak of."""
    if answer["category"] is not None:
        right = answer["category"] in label["category"]
        yield "category", right, not right
        right = answer["state"] in label["state"]
        yield "side effects", right, not right
        wrong = answer["state"] == "none" and not right
        yield "wrongly none", wrong, wrong
        numbers = [wait for wait in label["wait"] if wait is not None]
        if numbers:
            wait = answer["wait"]
            right = None in label["wait"] if wait is None else any(abs(wait - n) <= 0.05 * n + 2.5 for n in numbers)
            yield "Retry-After", right, not right
    if label["read"] is True:
        yield "missed retry", not answer["read"], not answer["read"]
    elif label["read"] is False:
        yield "false retry", answer["read"], answer["read"]
    if "none" not in label["state"]:
        yield "unsafe write retry", answer["write"], answer["write"]


def score(records: list[dict[str, Any]], name: str) -> tuple[list[str], list[str]]:
    """The cells of a classifier's row, and what it got wrong."""
    hits: collections.Counter[str] = collections.Counter()
    of: collections.Counter[str] = collections.Counter()
    misses = []
    answered = [record for record in records if name in record["answers"]]
    for record in answered:
        answer = record["answers"][name]
        for column, counted, wrong in judged(answer, record["label"]):
            of[column] += 1
            hits[column] += counted
            if wrong:
                misses.append(f"{column}: {record['id']} → {answer['category']}, {answer['state']}")
    cells = [f"{hits[c]}/{of[c]} {100 * hits[c] / of[c]:.0f}%" if of[c] else "–" for c in COLUMNS]
    micros = [record["answers"][name]["micros"] for record in answered if not record["chained"]]
    return [*cells, f"{statistics.median(micros):.1f}" if micros else "–"], misses


def main() -> None:
    """Run every module and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=Path, default=SCENARIOS, metavar="FOLDER")
    parser.add_argument("--misses", action="store_true", help="list what our classifier got wrong")
    parser.add_argument("--module", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.module:
        run_module(options.module)
        return
    records = []
    for path in sorted(options.scenarios.glob("[!_]*.py")):
        command = [sys.executable, __file__, "--module", str(path)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
                env=os.environ | {"NO_PROXY": "*"},
            )
            records += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        except subprocess.TimeoutExpired:
            print(f"{path.name}: given up after {TIMEOUT} s")
    measured = [record for record in records if "answers" in record]
    skipped = len(records) - len(measured)
    built = sum(record["constructed"] for record in measured)
    print(f"{len(measured)} scenarios ({built} constructed), {skipped} skipped")
    print(f"µs: CPU time a call, least of {BATCHES} batches of {CALLS}, median of the scenarios without a cause\n")
    print(f"| classifier | {' | '.join(COLUMNS)} | µs |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for name in CLASSIFIERS:
        if any(name in record["answers"] for record in measured):
            cells, misses = score(measured, name)
            print(f"| {name} | {' | '.join(cells)} |")
            if options.misses and name == "otel_toolerrors":
                print("\n".join(misses), file=sys.stderr)


if __name__ == "__main__":
    main()
