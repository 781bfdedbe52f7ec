"""The reference page of the vocabulary: ``python -m otel_toolerrors.vocabulary.reference > docs/telemetry.md``."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from textwrap import dedent
from typing import Any, Final, get_args, get_origin, get_type_hints

from . import VERSION, words
from .attributes import Attribute, attributes_of
from .events import EVENTS
from .metrics import METRICS
from .spans import SPANS

_LABELS: Final = {
    "gen_ai.tool.name": "The tool; `unknown` for a name that nobody registered.",
    "toolerrors.breaker.state": "The state that the series is about.",
    "toolerrors.retry.outcome": "How the call ended: [RetryOutcome](#retryoutcome).",
    "toolerrors.drop.reason": "Why it was lost: [DropReason](#dropreason).",
}
"""What a label says where no span or event carries it, or where it says something else there."""

_INTRODUCTION: Final = f"""\
<!-- Written by `make docs-reference` from otel_toolerrors/vocabulary; edit that. -->

# Telemetry

Every span, event, attribute and metric that the recovery layer emits. Version **{VERSION}** of the vocabulary; the
instrumentation scope is `otel_toolerrors`, and its attribute `toolerrors.vocabulary.version` says which version a
trace was written with.

**Stability.** Within a version a name is not removed, renamed or given another meaning; names are added. A new
version is announced in the changelog. `gen_ai.*`, `error.type`, `exception.type` and `http.*` are words of the
OpenTelemetry semantic conventions; the GenAI ones are still in development there.

**Cardinality.** *low*: a closed set. *bounded*: grows with your code (tools, services, codes). *high*: one for each
call or message; never a metric label.

## What is never exported

- Arguments and results of tools. A call carries a keyed digest of its arguments, which tells equal calls apart from
  different ones and cannot be turned back.
- Credentials and idempotency keys. Only the name of a credential, and whether a key was there.
- Error text as it came. `toolerrors.message` is redacted, stripped of control characters and bounded before telemetry
  sees it. Tracebacks are not recorded, and no span status has a description.
- Anything but flat scalars. Text is cut at 4096 characters, with a mark.

## How a call looks

- A call that works at once is one span, `execute_tool {{tool}}`, with status UNSET and no `error.type`.
- A failed or repeated attempt has a child span `attempt {{tool}}`; a failed one has status ERROR and `error.type`.
- A call that recovered keeps status UNSET: handled errors are not errors of the operation. A call that ended badly has
  status ERROR and `error.type`, also where the error came back as a value.
- Where a framework has its own `execute_tool` or `invoke_agent` span, ours is not added: the framework's span gets our
  attributes, and its maker ends it. Its own attributes are not overwritten.
- A call that repeats an earlier, failed call of the run (same tool, same arguments) has a link to it.
- A tool name that nobody registered came from a model: it stands in `gen_ai.tool.name`, but the span's name and every
  metric label say `unknown`.
- Events are span events by default. `configure(event_signal="logs")` sends them as log records of the same name and
  attributes, `"both"` as both. The SDK keeps only the last 128 events of a span, and exports a span when it ends.
- Metrics recorded in a sampled call carry its ids as exemplars.

## Where it goes

Without an SDK nothing is recorded, and nothing is built. `te.configure()` sets one up, or adds to the one that is
there:

| the environment says | traces, and what follows them |
| --- | --- |
| nothing | files of JSON lines in `.toolerrors/traces/`, in the format of the collector's `file` exporter |
| `OTEL_EXPORTER_OTLP_*` | OTLP, as the standard variables say; metrics, and log records if wanted, go the same way |
| `OTEL_TRACES_EXPORTER` (`…_METRICS_…`, `…_LOGS_…`) | the exporters of those names; `none` for none |
| `OTEL_CONFIG_FILE` | what that file says, and nothing besides |
| `OTEL_SDK_DISABLED=true` | nothing |

**Trace files.** Each process writes files of its own, so that many may share a folder; a forked child begins its own.
They are called `traces-{{start}}-{{process}}-{{random}}-{{number}}.jsonl`, and readable by their owner only. A file is
finished at 64 MiB or after a day (`Rotation`), and then compressed if you like. A call is on its way to the file the
moment it ends, at most 0.05 s later under load: a process that is killed loses its open spans. The agent never waits
for the disk. While the disk refuses, up to 8192 spans wait and are written when it recovers; what does not fit is
dropped and counted, by reason, in `toolerrors.telemetry.dropped` and in `configure(...).dropped`.

**The end.** `configure(...)` gives a handle, also as a context manager. `shutdown(timeout=5.0)` delivers what has ended
and stops, at the interpreter's exit at the latest; after those seconds exporters are told to give up, and what they
lose is counted, as is what the SDK's own queue had no room for. Python 3.12 and later let no thread be started at the
interpreter's exit: what was not shut down before waits there as long as the exporters do, ten seconds each.

**Without code.** Under `opentelemetry-instrument`, or after `ToolErrorsInstrumentor().instrument()`, every installed
framework that has an observer is watched; nothing about its behaviour changes.
`OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=toolerrors` leaves all of it out, `toolerrors-langchain` one framework. An
observer is an entry point in the group `otel_toolerrors.observers`, named after the framework's top-level module: a
function that takes a `Tracing`, puts its hooks in place, and returns the function that takes them out.

**Stores without log records.** `bridge_events(logger_provider)` copies every event that goes through a logger provider
onto the span it was emitted in.
"""


def render() -> str:
    """The page as Markdown."""
    lines = [
        _INTRODUCTION,
        "## Spans\n",
        *_records(SPANS, lambda record: f"{record.OPERATION} …"),
        "## Events\n",
        *_records(EVENTS, lambda record: record.NAME),
        "## Metrics\n",
        *_metrics(),
        "## Values\n",
        *_values(),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _records(records: Iterable[type[Any]], title: Callable[[Any], str]) -> Iterator[str]:
    for record in records:
        yield f"### `{title(record)}`\n"
        yield f"{_markdown(inspect.getdoc(record) or '')}\n"
        yield f"In the analysis: view `{record.VIEW}`.\n"
        yield "| attribute | type | cardinality | what it says | example |"
        yield "| --- | --- | --- | --- | --- |"
        hints = get_type_hints(record)
        optional = {name for name, hint in hints.items() if type(None) in get_args(hint)}
        for name, attribute in attributes_of(record).items():
            yield _row(attribute, _alias(hints[name]), optional=name in optional)
        yield ""


def _row(attribute: Attribute, alias: str | None, *, optional: bool) -> str:
    kind = f"[{alias}](#{alias.lower()})" if alias else attribute.type
    if attribute.unit:
        kind += f", {attribute.unit}"
    if optional:
        kind += ", optional"
    example = str(attribute.example).lower() if isinstance(attribute.example, bool) else str(attribute.example)
    cells = f"`{attribute.key}`", kind, attribute.cardinality, _markdown(attribute.description), f"`{example}`"
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _metrics() -> Iterator[str]:
    described = {
        attribute.key: attribute.description
        for record in (*SPANS, *EVENTS)
        for attribute in attributes_of(record).values()
    } | _LABELS
    for metric in METRICS:
        yield f"### `{metric.name}`\n"
        yield f"{_markdown(metric.description)}\n"
        yield f"{metric.instrument.capitalize()}, unit `{metric.unit}`.\n"
        yield "| label | what it says |"
        yield "| --- | --- |"
        for label in metric.labels:
            yield f"| `{label}` | {_markdown(described[label])} |"
        yield ""


def _values() -> Iterator[str]:
    source = inspect.getsource(words)
    for name, alias in _aliases().items():
        meaning = re.search(rf'^{name} = Literal\[.*?\]\n"""(.*?)"""', source, re.DOTALL | re.MULTILINE)
        members = source[source.index(f"\n{name} = ") :].split('"""', 1)[0]
        yield f"### {name}\n"
        yield f"{_markdown(dedent(meaning[1])) if meaning else ''}\n"
        for member in get_args(alias):
            comment = re.search(rf'"{member}",\s+# (.+)', members)
            yield f"- `{member}`" + (f": {comment[1]}" if comment else "")
        yield ""


def _aliases() -> dict[str, Any]:
    return {name: value for name, value in vars(words).items() if get_origin(value) is not None}


def _alias(hint: Any) -> str | None:
    """The name of the closed set that a field's type is, or that it is if it is not None."""
    members = set(get_args(hint)) - {type(None)}
    candidates = {hint, *get_args(hint)}
    for name, alias in _aliases().items():
        if alias in candidates or members == set(get_args(alias)):
            return name
    return None


def _markdown(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


if __name__ == "__main__":
    sys.stdout.write(render())
