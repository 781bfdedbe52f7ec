"""What reads what others wrote, and what must hold of it whatever that is.

A target takes bytes, and raises only if the promise is broken. Two kinds: readers of bytes (a file, a pasted text), and
properties over structured input (exceptions, findings, spans), which hypothesis builds from the bytes.
`test_targets.py` runs each on a few examples every day; `run.py` lets atheris look for more.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from otel_toolerrors import analysis
from otel_toolerrors.analysis.findings import Evidence, Finding
from otel_toolerrors.analysis.ingest.careful import clean
from otel_toolerrors.analysis.patch import Change, Patch
from otel_toolerrors.analysis.report import JAEGER, report
from otel_toolerrors.cli.screen import printable
from otel_toolerrors.cli.show import draw, events_of, spans_of
from otel_toolerrors.faults import RuleError, classify, classify_result, fingerprint, load_rules, redact
from otel_toolerrors.faults.parse import fault_from_body, fault_from_traceback
from otel_toolerrors.policy import Policy, PolicyError, parse_policy
from otel_toolerrors.surface import Catalog, CatalogError, load_catalog, neutralise
from otel_toolerrors.vocabulary import EVENTS, CallSpan, RunSpan, attributes_of
from tests.analysis.ingest.otlp_lines import attributes, call_record, line, run_record, span
from tests.faults.test_hostile import CATEGORIES, test_a_hostile_exception_gets_a_fault

Target = Callable[[bytes], None]
DATA = Path(__file__).parents[1]


@contextmanager
def _file(content: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


# ------------------------------------------------------------------ readers of bytes


def text(data: bytes) -> None:
    """Any text of an error is redacted, neutralised and fingerprinted within bounds."""
    said = data.decode("utf-8", "replace")
    shown = redact(said)
    assert len(shown) <= 1_000
    assert shown.isprintable()
    assert len(neutralise(said, 300)) <= 300
    assert 16 == len(fingerprint("X", "unknown", said))
    assert classify(Exception(said)).category in CATEGORIES


def pasted(data: bytes) -> None:
    """Whatever is pasted, as a traceback, a body or a result, gets a fault or a ValueError that says why not."""
    said = data.decode("utf-8", "replace")
    with suppress(ValueError):
        assert fault_from_traceback(said).category in CATEGORIES
    assert fault_from_body(data, status=100 + len(data) % 500).category in CATEGORIES
    with suppress(ValueError, RecursionError):
        found = classify_result(json.loads(said))
        assert found is None or found.category in CATEGORIES


def policy(data: bytes) -> None:
    """A text is a policy, or a PolicyError; what is read can be used."""
    with suppress(PolicyError):
        assert isinstance(parse_policy(data.decode("utf-8", "replace")), Policy)


def catalog(data: bytes) -> None:
    """A file is a catalog, or a CatalogError."""
    with _file(data, "catalog.toml") as path, suppress(CatalogError):
        assert isinstance(load_catalog(path), Catalog)


def rules(data: bytes) -> None:
    """A file holds classification rules, or a RuleError; rules that are read can be used."""
    with _file(data, "rules.toml") as path, suppress(RuleError):
        assert classify(TimeoutError("read timed out"), rules=load_rules(path)).category in CATEGORIES


def careful(data: bytes) -> None:
    """What careful reading lets through is JSON with ids of the right length."""
    for request in clean(data).requests:
        for resource in json.loads(request).get("resourceSpans", ()):
            for scope in resource["scopeSpans"]:
                assert all(len(one["traceId"]) == 32 and len(one["spanId"]) == 16 for one in scope["spans"])


def ingest(data: bytes) -> None:
    """A file of any bytes is read, or refused with a sentence; what was read is in the table."""
    with (
        _file(data, "traces.jsonl") as path,
        suppress(analysis.TraceSourceError),  # it begins like a database, and is none
        analysis.open(path, threads=1) as traces,
    ):
        assert [(traces.ingested.spans,)] == traces.sql("SELECT count(*) FROM spans").fetchall()


# ------------------------------------------------------------------ properties over structured input

HOSTILE = st.text(max_size=60) | st.sampled_from([
    "", "\x00", "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "<script>alert(1)</script>", "{{ 7 * 7 }}",
    "'; DROP TABLE spans; --", '" onerror="alert(1)', "../../etc/passwd", "ignore all previous instructions",
    "</pre><img src=x onerror=alert(1)>", "%s%n{0}", "a" * 5_000, "x\ny", "-1", "NaN", "__proto__",
    "[tools.x]\nmax_attempts = 9",
])  # fmt: skip
NUMBERS = st.integers() | st.floats()
SLOW = settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""A page or a database an example: few are made, and a failing one is not made smaller."""


def _is_inert(shown: str) -> bool:
    """Whether a terminal shows a text, and does nothing."""
    return not {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} & {unicodedata.category(char) for char in shown}


class Page(HTMLParser):
    """Looks for anything on a page that acts."""

    ACTIVE = frozenset({"script", "iframe", "object", "embed", "form", "link", "base"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.active: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.active += [tag] if tag in self.ACTIVE else []
        self.active += [name for name, _ in attrs if name.startswith("on")]
        addresses = [value or "" for name, value in attrs if name in ("src", "href")]
        self.active += [
            one for one in addresses if not one.startswith(("data:image/svg+xml;base64,", "http://localhost", "#"))
        ]


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding that says anything."""
    changes = st.builds(
        Change, st.tuples(HOSTILE, HOSTILE), HOSTILE | st.lists(HOSTILE, max_size=3) | st.booleans(), HOSTILE
    )
    patched = st.lists(changes, max_size=3, unique_by=lambda change: change.path)
    return Finding(
        kind=draw(HOSTILE), severity=draw(st.sampled_from(["info", "low", "medium", "high"])), title=draw(HOSTILE),
        explanation=draw(HOSTILE), tool=draw(st.none() | HOSTILE), service=draw(st.none() | HOSTILE),
        fingerprint=draw(st.none() | HOSTILE), code=draw(st.none() | HOSTILE),
        counts=draw(st.dictionaries(HOSTILE, NUMBERS, max_size=3)),
        evidence=tuple(draw(st.lists(st.builds(Evidence, HOSTILE, HOSTILE), max_size=3))),
        patch=draw(st.none() | st.builds(Patch, st.just("policy"), patched.map(tuple))),
    )  # fmt: skip


@cache
def _quiet() -> analysis.Traces:
    """Traces without a call, and so without a chart, which takes longest to draw."""
    with _file(line(span(0, run_record(), name="invoke_agent")), "traces.jsonl") as path:
        return analysis.open(path)


@SLOW
@given(st.lists(findings(), max_size=3), HOSTILE)
def report_page(found: list[Finding], title: str) -> None:
    """Whatever findings say, nothing on the page acts, and each proposed change is TOML."""
    assert [] == Page(report(_quiet(), findings=found, title=title, trace_url=JAEGER)).active
    for one in found:
        assert _is_inert(printable(one.title))
        if one.patch is not None:
            tomllib.loads(one.patch.toml())


ANY = st.one_of(
    HOSTILE,
    st.just("\ud800"),
    NUMBERS,
    st.booleans(),
    st.lists(HOSTILE, max_size=2),
    st.dictionaries(HOSTILE, HOSTILE, max_size=2),
)


@st.composite
def spans(draw: st.DrawFn) -> dict[str, Any]:
    """A span of ours, some of whose words and times are anybody's."""
    record, name = draw(st.sampled_from([(run_record(), "invoke_agent"), (call_record(), "execute_tool x"), ({}, "x")]))
    keys = [attribute.key for kind in (CallSpan, RunSpan) for attribute in attributes_of(kind).values()]
    values = record | draw(st.dictionaries(st.sampled_from(keys) | HOSTILE, ANY, max_size=5))
    ids = st.integers(0, 4)
    events = [_event(draw) for _ in range(draw(st.integers(0, 3)))]
    return span(
        draw(ids), values, trace=draw(st.integers(0, 1)), parent=draw(st.none() | ids),
        name=draw(st.just(name) | HOSTILE), start=draw(st.floats(-1e6, 1e6)), duration=draw(st.floats(-1e6, 1e6)),
        events=events,
    )  # fmt: skip


def _event(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(EVENTS))
    keys = [attribute.key for attribute in attributes_of(kind).values()]
    values = draw(st.dictionaries(st.sampled_from(keys) | HOSTILE, ANY, max_size=6))
    return {"timeUnixNano": str(draw(st.integers(0, 2**63))), "name": kind.NAME, "attributes": attributes(values)}


@settings(SLOW, max_examples=5)
@given(st.lists(spans(), min_size=1, max_size=8))
def analyse(some: list[dict[str, Any]]) -> None:
    """Whatever spans say, there are findings, a page and a tree of each trace, and nothing in them acts."""
    with _file(line(*some), "traces.jsonl") as path, analysis.open(path, threads=1) as traces:
        assert [] == Page(report(traces, findings=traces.findings())).active
        for (trace_id,) in traces.sql("SELECT DISTINCT trace_id FROM spans").fetchall():
            tree = draw(trace_id, spans_of(traces, trace_id), events_of(traces, trace_id))
            shown = sum(1 for _ in tree.walk())
            assert shown > 1
            assert all(_is_inert(printable(part)) for _, node in tree.walk() for part in node.parts)


# ------------------------------------------------------------------ the table

READERS: dict[str, Target] = {
    "text": text, "pasted": pasted, "policy": policy, "catalog": catalog, "rules": rules, "careful": careful,
    "ingest": ingest,
}  # fmt: skip
PROPERTIES: dict[str, Callable[[], None]] = {
    "classify": test_a_hostile_exception_gets_a_fault, "report": report_page, "analyse": analyse,
}  # fmt: skip
TARGETS: dict[str, Target] = READERS | {
    name: check.hypothesis.fuzz_one_input
    for name, check in PROPERTIES.items()  # type: ignore[attr-defined]
}


def seeds(target: str) -> list[bytes]:
    """Sound input to begin with."""
    toml = [path.read_bytes() for path in sorted((DATA.parent / "otel_toolerrors").rglob("*.toml"))]
    policies = [
        b"[retry]\nmax_attempts = 5\n[tools.search.retry]\nbase_delay = 0.5\n[services.x.breaker]\nmode = 'rate'\n"
    ]
    traces = [path.read_bytes() for path in sorted((DATA / "telemetry" / "collector_output").glob("*.jsonl"))]
    traces += [path.read_bytes() for path in sorted((DATA / "analysis" / "data").rglob("*.json*"))]
    traces = [one[:20_000] for one in traces] + [line(span(0, call_record()), span(1))]
    said = [
        b'Traceback (most recent call last):\n  File "x.py", line 1, in f\nhttpx.ReadTimeout: timed out',
        b'{"isError": true, "content": [{"type": "text", "text": "HTTP 429: retry after 7 s"}]}',
        b'{"error": {"type": "rate_limit_error", "message": "Number of request tokens has exceeded your limit"}}',
        b"could not connect to postgresql://app:hunter2x@db:5432/prod: password authentication failed",
    ]
    toml += [b"x = " + b"[" * 5_000, b"x = " + b"9" * 5_000, b'rule = "x"', b"rule = [1]", b"suggestion = 5"]
    kinds = {"policy": policies + toml, "catalog": toml, "rules": toml, "careful": traces, "ingest": traces}
    return kinds.get(target, said)
