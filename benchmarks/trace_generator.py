"""Writes traces as the collector's file exporter would: one OTLP request a line, in this package's vocabulary.

    python benchmarks/trace_generator.py SPANS OUT.jsonl [--seed N]

Simulated: the shape of the runs, the error mix and the durations are made up; only the words are real.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otel_toolerrors.vocabulary import (
    AttemptSpan,
    CallSpan,
    ErrorSurfaced,
    FaultClassified,
    RetryRefused,
    RetryScheduled,
    RunSpan,
    to_attributes,
)

Json = dict[str, Any]

TOOLS = ("search", "http_get", "read_file", "write_file", "sql_query", "send_mail", "create_ticket", "shell")
FAULTS = (
    # category, code, status, message
    ("rate_limited", "http.429", 429, "429 Too Many Requests: retry after {n} s (request {h})"),
    ("transient", "timeout.read", None, "read timed out after {n} s calling https://api.example.com/v1/items/{h}"),
    ("transient", "http.503", 503, "503 Service Unavailable: connect error or reset before headers ({h})"),
    ("validation", "argument.missing", None, "1 validation error for Arguments: path.{h} field required"),
    ("not_found", "file.missing", None, "no such file or directory: '/srv/data/{h}/report_{n}.csv'"),
    ("permission", "http.403", 403, "403 Forbidden: user {n} may not write to bucket/{h}"),
)
PASSING = {"rate_limited", "transient"}
START = 1_790_000_000_000_000_000
FAILURE_SHARE = 0.22


class Generator:
    """Runs of tool calls with faults, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._now = START

    def spans(self) -> Iterator[Json]:
        """Yield spans without end, run after run."""
        while True:
            yield from self._run()

    def request(self, spans: list[Json]) -> Json:
        """Wrap spans as one export request."""
        resource = {
            "service.name": self._random.choice(("triage", "support", "research")),
            "service.version": self._random.choice(("1.4.0", "1.4.1", "1.5.0")),
            "deployment.environment.name": "prod",
            "telemetry.sdk.name": "opentelemetry",
            "telemetry.sdk.language": "python",
            "telemetry.sdk.version": "1.45.2",
        }
        scope = {"name": "otel_toolerrors", "version": "0.1.0"}
        return {
            "resourceSpans": [
                {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [{"scope": scope, "spans": spans}]}
            ]
        }

    def _hex(self, digits: int) -> str:
        return f"{self._random.getrandbits(digits * 4):0{digits}x}"

    def _run(self) -> list[Json]:
        trace, root, run_id = self._hex(32), self._hex(16), self._hex(16)
        start = self._now
        spans: list[Json] = []
        for index in range(self._random.randint(4, 40)):
            spans += self._call(trace, root, run_id, index)
        record = RunSpan(
            operation="invoke_agent", agent="triage", conversation=f"c-{self._hex(8)}", run_id=run_id,
            source="main_agent", arm="context", tools=",".join(TOOLS), policy="5d41402abc4b2a76", catalog="2026.11",
        )  # fmt: skip
        spans.append(_span((trace, root, ""), "invoke_agent triage", (start, self._now), record))
        return spans

    def _call(self, trace: str, root: str, run_id: str, index: int) -> list[Json]:
        rng = self._random
        tool, span_id, start = rng.choice(TOOLS), self._hex(16), self._now
        fault = rng.choice(FAULTS) if rng.random() < FAILURE_SHARE else None
        attempts = rng.randint(1, 4) if fault and fault[0] in PASSING else 1
        recovered = fault is not None and attempts > 1 and rng.random() < 0.6
        spans: list[Json] = []
        events: list[Json] = []
        for attempt in range(1, attempts + 1):
            attempt_start = self._now
            self._now += int(rng.lognormvariate(18.5, 0.8))
            failed = fault is not None and not (recovered and attempt == attempts)
            if failed and fault:
                events += self._fault_events(tool, fault, attempt, last=attempt == attempts)
            if fault:
                record = AttemptSpan(
                    tool=tool, attempt=attempt, category=fault[0] if failed else None,
                    error_type=fault[1] if failed else None,
                )  # fmt: skip
                ids, times = (trace, self._hex(16), span_id), (attempt_start, self._now)
                spans.append(_span(ids, f"attempt {tool}", times, record, error="failed" if failed else None))
            if attempt < attempts:
                self._now += int(2**attempt * 2.5e8 * (1 + rng.random() / 4))
        bad = fault is not None and not recovered
        call = CallSpan(
            operation="execute_tool", tool=tool, call_id=f"toolu_{self._hex(24)}", tool_type="function",
            agent="triage", run_id=run_id, index=index, source="main_agent", service=f"{tool}-api",
            effects="write" if tool in {"write_file", "send_mail"} else "read", arguments=self._hex(16),
            policy="5d41402abc4b2a76", outcome="recovered" if recovered else "surfaced" if bad else "ok",
            attempts=attempts, category=fault[0] if fault else None, code=fault[1] if fault else None,
            side_effects="unknown" if fault else None, error_type=fault[1] if bad and fault else None,
        )  # fmt: skip
        message = fault[3] if bad and fault else None
        ids, times = (trace, span_id, root), (start, self._now)
        spans.append(_span(ids, f"execute_tool {tool}", times, call, events=events, error=message))
        self._now += int(rng.lognormvariate(20.5, 0.6))
        return spans

    def _fault_events(self, tool: str, fault: tuple[Any, ...], attempt: int, *, last: bool) -> list[Json]:
        category, code, status, template = fault
        fingerprint = hashlib.sha256(f"{tool} {code}".encode()).hexdigest()[:16]
        message = template.format(n=self._random.randint(1, 99), h=self._hex(8))
        events: list[object] = [
            FaultClassified(
                tool=tool, attempt=attempt, category=category, code=code, passing=category in PASSING,
                retryable=category in PASSING, side_effects="unknown", fingerprint=fingerprint, message=message,
                exception_type="httpx.HTTPStatusError", http_status=status, signal="status", strength="strong",
            )
        ]  # fmt: skip
        if not last:
            delay = round(2**attempt * 0.25 * (1 + self._random.random() / 4), 3)
            events.append(
                RetryScheduled(
                    tool=tool, attempt=attempt, delay=delay, basis="backoff", code=code, fingerprint=fingerprint
                )
            )
        else:
            events.append(
                RetryRefused(tool=tool, attempt=attempt, reason="attempts", code=code, fingerprint=fingerprint)
            )
            tokens = self._random.randint(60, 400)
            events.append(
                ErrorSurfaced(
                    tool=tool, category=category, code=code, fingerprint=fingerprint, target=self._hex(16), failures=1,
                    tokens=tokens, injected_tokens=tokens // 2, arm="context", suggestions="not-found.search-first",
                    suggested_tools="search", offered_tools=",".join(TOOLS), context_remaining=52_000,
                )
            )  # fmt: skip
        return [_event(event, self._now) for event in events]


def _value(value: object) -> Json:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"stringValue": value}


def _attributes(values: dict[str, Any]) -> list[Json]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _event(event: Any, ts: int) -> Json:
    return {"timeUnixNano": str(ts), "name": event.NAME, "attributes": _attributes(to_attributes(event))}


def _span(
    ids: tuple[str, str, str], name: str, times: tuple[int, int], record: object, *,
    events: Sequence[Json] = (), error: str | None = None,
) -> Json:  # fmt: skip
    """Write a span; ``ids`` are of its trace, itself and its parent."""
    row: Json = {"traceId": ids[0], "spanId": ids[1], "parentSpanId": ids[2], "flags": 256, "name": name, "kind": 1}
    row |= {"startTimeUnixNano": str(times[0]), "endTimeUnixNano": str(times[1])}
    row["attributes"] = _attributes(to_attributes(record))
    if events:
        row["events"] = events
    row["status"] = {"message": error, "code": 2} if error else {}
    return row


def write(path: Path, spans: int, seed: int = 7) -> int:
    """Write ``spans`` spans to ``path`` and return the bytes written."""
    generator = Generator(seed)
    stream = generator.spans()
    written = 0
    batches = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        while spans > 0:
            size = min(spans, batches.randint(50, 200))
            request = generator.request([next(stream) for _ in range(size)])
            written += file.write(json.dumps(request, separators=(",", ":")) + "\n")
            spans -= size
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spans", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    print(f"{write(options.out, options.spans, options.seed):,} bytes")
