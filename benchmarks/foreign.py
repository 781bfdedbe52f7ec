"""Tool calls that other agents made, as the spans that another instrumentation would have written of them.

    python benchmarks/foreign.py DATA_DIR OUT_DIR

DATA_DIR holds ``calls.jsonl.gz`` (every call of recorded sessions: tool, digest of the arguments, times, whether it
failed) and ``errors.jsonl.gz`` (texts of errors, each with how often it came). OUT_DIR gets a folder of spans for each,
by the GenAI conventions, for ``toolerrors report``. Times of the errors are made up: they had none.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

_MOST = 5
"""Copies of one error at most: some sources have it a thousand times."""
_BEGAN = 1_790_000_000


def calls(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A span for each call that has a tool and a time."""
    for row in rows:
        if row["tool"] and row["t0"]:
            times = (_ns(row["t0"]), _ns(row["t1"] or row["t0"]))
            attributes = {"gen_ai.tool.call.arguments": row["args_hash"]}
            yield _span(row["run"], str(row["i"]), row["tool"], times, attributes, failed=row["err"])


def errors(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A span for each occurrence of an error, each in a trace of its own."""
    seconds = _BEGAN
    for row in rows:
        if "botocore" in (row["source"] or ""):
            continue  # documentation, not occurrences
        said = {"exception.type": row["exc_type"], "exception.message": row["error_text"]}
        for copy in range(min(row.get("n_dups") or 1, _MOST)):
            seconds += 1
            times = (seconds * 10**9, seconds * 10**9 + 10**8)
            status = {"error.type": str(row["status"]) if row["status"] else None}
            span = _span(f"{row['id']} {copy}", "", row["tool"] or "http", times, status, failed=True)
            event = {"timeUnixNano": str(times[1]), "name": "exception", "attributes": _attributes(said)}
            yield span | {"events": [event]}


def _span(
    run: str, number: str, tool: str, times: tuple[int, int], attributes: dict[str, str | None], *, failed: bool
) -> dict[str, Any]:
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, **attributes}
    return {
        "traceId": _digest(run, 32), "spanId": _digest(f"{run} {number}", 16), "name": f"execute_tool {tool}",
        "startTimeUnixNano": str(times[0]), "endTimeUnixNano": str(times[1]), "attributes": _attributes(named),
        "status": {"code": 2} if failed else {},
    }  # fmt: skip


def _attributes(pairs: dict[str, str | None]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items() if value]


def _digest(text: str, digits: int) -> str:
    return sha256(text.encode()).hexdigest()[:digits]


def _ns(stamp: str) -> int:
    return round(datetime.fromisoformat(stamp).timestamp() * 1e9)


def main() -> None:
    """Read, turn, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    arguments = parser.parse_args()
    for name, turn in (("calls", calls), ("errors", errors)):
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        with (
            gzip.open(arguments.data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as source,
            (folder / "spans.jsonl").open("w", encoding="utf-8") as target,
        ):
            for span in turn(map(json.loads, source)):
                target.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}) + "\n")


if __name__ == "__main__":
    main()
