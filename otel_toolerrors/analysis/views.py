"""The views: the vocabulary's records as tables, one column a field.

Times are seconds since 1970 as doubles, durations seconds. An event view also
tells the call (``call_span_id``) and the run that the event belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from otel_toolerrors.vocabulary import EVENTS, AttemptSpan, CallSpan, Event, RunSpan, attributes_of

from .foreign import select_foreign_calls, select_foreign_faults
from .schema import literal

_WHEN = 'nullif(start_ns, 0) / 1e9 AS start, end_ns / 1e9 AS "end", (end_ns - nullif(start_ns, 0)) / 1e9 AS duration'
_WHO = '"service.name" AS service_name, "service.version" AS service_version'
# What an event's row borrows from its call and run, where the event has no such field itself.
_BORROWED = ("run_id", "agent", "conversation", "source", "service", "effects", "service_name", "service_version")


def views() -> Iterator[tuple[str, str]]:
    """Yield every view's name and query, each after those that it reads."""
    yield "events", _EVENTS
    yield "calls", _calls()
    yield "attempts", _attempts()
    yield "run_spans", _run_spans()
    yield "event_owners", _event_owners()
    by_view = sorted(EVENTS, key=attrgetter("VIEW"))
    for name, group in groupby(by_view, key=attrgetter("VIEW")):
        query = _event_view(list(group))
        yield name, f"{query}\nUNION ALL BY NAME\n{select_foreign_faults()}" if name == "faults" else query
    yield "runs", _runs()
    yield "model_turns", _MODEL_TURNS


def _fields(records: Iterable[type]) -> dict[str, str]:
    """Map field names to columns."""
    return {name: f'"{attr.key}"' for record in records for name, attr in attributes_of(record).items()}


def _select(fields: dict[str, str]) -> str:
    return ", ".join(f'{column} AS "{name}"' for name, column in fields.items())


def _calls() -> str:
    return f"""
SELECT trace_id, span_id, parent_span_id, {_WHEN}, {_select(_fields([CallSpan]))}, {_WHO},
  status_message, 'toolerrors' AS instrumentation
FROM spans WHERE "gen_ai.operation.name" = '{CallSpan.OPERATION}' AND "toolerrors.outcome" IS NOT NULL
UNION ALL BY NAME
{select_foreign_calls()}"""


_OF_THE_CALL = (
    'c.span_id AS call_span_id, c.run_id, c."index", c.service, c.effects, c.arguments, c.agent, c.conversation, '
    "c.source, c.service_name, c.service_version, c.instrumentation"
)


def _attempts() -> str:
    """Recorded attempts, and the one of each call that worked (or was seen by others) at once."""
    return f"""
WITH recorded AS (
  SELECT trace_id, span_id, parent_span_id, {_WHEN}, {_select(_fields([AttemptSpan]))}, status_message
  FROM spans WHERE name LIKE '{AttemptSpan.OPERATION} %' AND "toolerrors.attempt" IS NOT NULL
)
SELECT a.*, {_OF_THE_CALL}, true AS recorded
FROM recorded a LEFT JOIN calls c ON c.trace_id = a.trace_id AND c.span_id = a.parent_span_id
UNION ALL BY NAME
SELECT c.trace_id, c.span_id, c.parent_span_id, c.start, c."end", c.duration, c.tool, 1 AS attempt, c.category,
  c.error_type, c.status_message, {_OF_THE_CALL}, false AS recorded
FROM calls c ANTI JOIN recorded a ON c.trace_id = a.trace_id AND c.span_id = a.parent_span_id
WHERE c.attempts > 0"""


def _run_spans() -> str:
    return f"""
SELECT trace_id, span_id, parent_span_id, {_WHEN}, {_select(_fields([RunSpan]))}, {_WHO}
FROM spans WHERE "gen_ai.operation.name" = '{RunSpan.OPERATION}' AND "toolerrors.run.id" IS NOT NULL"""


def _runs() -> str:
    """Runs whose span arrived, and those that only their calls tell of: a killed process, a framework's own span."""
    derived = "run_id, service_name, service_version, agent, conversation, source, policy"
    return f"""
SELECT *, true AS recorded FROM run_spans
UNION ALL BY NAME
SELECT r.*, s.arm, x.stop_reason, x.error_type FROM (
  SELECT min(trace_id) AS trace_id, {", ".join(f"min({c}) AS {c}" for c in derived.split(", ")[1:])}, run_id,
    '{RunSpan.OPERATION}' AS operation, min(start) AS start, max("end") AS "end",
    max("end") - min(start) AS duration, false AS recorded
  FROM calls GROUP BY run_id
) r
LEFT JOIN (SELECT run_id AS told, min(arm) AS arm FROM surfaced GROUP BY run_id) s ON s.told = r.run_id
LEFT JOIN (SELECT run_id AS stopped, min(reason) AS stop_reason, min(code) AS error_type FROM stops GROUP BY run_id) x
  ON x.stopped = r.run_id
WHERE r.run_id NOT IN (SELECT run_id FROM run_spans)"""


def _event_owners() -> str:
    """Every span that may carry an event, with its call and run."""
    borrowed = ", ".join(_BORROWED)
    return f"""
SELECT trace_id, span_id, span_id AS call_span_id, {borrowed} FROM calls
UNION ALL BY NAME
SELECT trace_id, span_id, call_span_id, {borrowed} FROM attempts WHERE recorded
UNION ALL BY NAME
SELECT trace_id, span_id, run_id, agent, conversation, source, service_name, service_version FROM run_spans"""


def _event_view(events: list[type[Event]]) -> str:
    fields = _fields(events)
    borrowed = ", ".join(f"o.{name}" for name in _BORROWED if name not in fields)
    names = ", ".join(literal(event.NAME) for event in events)
    return f"""
SELECT e.trace_id, e.span_id, o.call_span_id, e.position, nullif(e.ts_ns, 0) / 1e9 AS ts, e.name AS event,
  {", ".join(f'e.{column} AS "{name}"' for name, column in fields.items())}, {borrowed}
FROM events e LEFT JOIN event_owners o ON o.trace_id = e.trace_id AND o.span_id = e.span_id
WHERE e.name IN ({names})"""


_MODEL_TURNS = f"""
SELECT trace_id, span_id, parent_span_id, {_WHEN}, attributes['gen_ai.request.model'] AS model,
  TRY_CAST(attributes['gen_ai.usage.input_tokens'] AS BIGINT) AS input_tokens,
  TRY_CAST(attributes['gen_ai.usage.output_tokens'] AS BIGINT) AS output_tokens,
  "gen_ai.conversation.id" AS conversation, "error.type" AS error_type, status, status_message, {_WHO}
FROM spans WHERE "gen_ai.operation.name" IN ('chat', 'text_completion', 'generate_content')
  OR attributes['openinference.span.kind'] = 'LLM'"""

# An event that came both in its span and as a log record counts once. The span holds the last 128 at most, and its
# copy may have another timestamp: of each name, the road on which more arrived is believed.
_EVENTS = """
SELECT * FROM span_events ANTI JOIN (
  SELECT trace_id, span_id, name,
    CASE WHEN count(*) FILTER (WHERE signal = 'log') > count(*) FILTER (WHERE signal = 'span') THEN 'span'
      ELSE 'log' END AS signal
  FROM span_events SEMI JOIN (SELECT trace_id, span_id FROM span_events WHERE signal = 'log') USING (trace_id, span_id)
  GROUP BY trace_id, span_id, name HAVING count(DISTINCT signal) = 2
) USING (trace_id, span_id, name, signal)"""
