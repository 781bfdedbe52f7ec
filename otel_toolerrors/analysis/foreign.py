"""Tool calls as other instrumentations tell of them, so that traces made without this package give a first report.

Each dialect says how to recognise a tool call and where its name, id and
arguments are. Where a span fits several, the first in the table names it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Dialect:
    name: str
    is_tool_call: str
    tool: str
    arguments: str


_DIALECTS = (
    _Dialect(
        "openinference",
        is_tool_call="attributes['openinference.span.kind'] = 'TOOL'",
        tool="coalesce(attributes['tool.name'], name)",
        arguments="attributes['input.value']",
    ),
    _Dialect(
        "traceloop",
        is_tool_call="attributes['traceloop.span.kind'] = 'tool'",
        tool="coalesce(attributes['traceloop.entity.name'], regexp_replace(name, '\\.tool$', ''))",
        arguments="attributes['traceloop.entity.input']",
    ),
    _Dialect(
        "langsmith",
        is_tool_call="attributes['langsmith.span.kind'] = 'tool'",
        tool="name",
        arguments="attributes['gen_ai.prompt']",
    ),
    _Dialect(  # also Logfire, which shows what it instruments under its own message
        "pydantic-ai",
        is_tool_call="\"gen_ai.tool.name\" IS NOT NULL AND attributes['logfire.msg'] LIKE 'running tool%'",
        tool='"gen_ai.tool.name"',
        arguments="attributes['tool_arguments']",
    ),
    _Dialect(  # the GenAI conventions, whoever follows them
        "genai",
        is_tool_call="\"gen_ai.operation.name\" = 'execute_tool'",
        tool="regexp_replace(name, '^execute_tool ', '')",
        arguments="attributes['gen_ai.tool.call.arguments']",
    ),
)


def _choose(field: str) -> str:
    cases = " ".join(f"WHEN {d.is_tool_call} THEN {getattr(d, field)}" for d in _DIALECTS)
    return f"CASE {cases} END"


_IS_TOOL_CALL = " OR ".join(f"({d.is_tool_call})" for d in _DIALECTS)
_INSTRUMENTATION = "CASE " + " ".join(f"WHEN {d.is_tool_call} THEN '{d.name}'" for d in _DIALECTS) + " END"
_ARGUMENTS = f"coalesce(attributes['gen_ai.tool.call.arguments'], {_choose('arguments')})"
_FAILED = "(status = 'ERROR' OR \"error.type\" IS NOT NULL)"


def select_foreign_calls() -> str:
    """Render the tool calls of other instrumentations as rows of the view ``calls``."""
    return f"""
SELECT trace_id, span_id, parent_span_id, start_ns / 1e9 AS start, end_ns / 1e9 AS "end",
  (end_ns - start_ns) / 1e9 AS duration, 'execute_tool' AS operation,
  coalesce("gen_ai.tool.name", {_choose("tool")}) AS tool, "gen_ai.tool.call.id" AS call_id,
  "gen_ai.agent.name" AS agent, "gen_ai.conversation.id" AS conversation, trace_id AS run_id,
  row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, span_id) - 1 AS "index",
  "service.name" AS service, left(md5({_ARGUMENTS}), 16) AS arguments,
  CASE WHEN {_FAILED} THEN 'surfaced' ELSE 'ok' END AS outcome, 1 AS attempts,
  CASE WHEN {_FAILED} THEN 'unknown' END AS category,
  CASE WHEN {_FAILED} THEN coalesce("error.type", 'error') END AS code, "error.type" AS error_type,
  "service.name" AS service_name, "service.version" AS service_version, status_message,
  {_INSTRUMENTATION} AS instrumentation
FROM spans WHERE ({_IS_TOOL_CALL}) AND "toolerrors.outcome" IS NULL"""


def select_foreign_faults() -> str:
    """Render the failed tool calls of other instrumentations as rows of the view ``faults``."""
    template = r"regexp_replace({text}, '[0-9a-fA-F]{8,}|[0-9]+', '#', 'g')"
    message = "coalesce(x.message, c.status_message)"
    return f"""
SELECT c.trace_id, c.span_id, c.span_id AS call_span_id, c."end" AS ts, 'toolerrors.fault.classified' AS event,
  c.tool, 1 AS attempt, c.category, coalesce(c.error_type, x.type, 'error') AS code, 'unknown' AS side_effects,
  left(md5(concat_ws('|', c.tool, c.code, {template.replace("{text}", message)})), 16) AS fingerprint,
  {message} AS message, x.type AS exception_type, 'none' AS signal, 'none' AS strength,
  c.run_id, c.agent, c.conversation, c.service, c.service_name, c.service_version
FROM calls c LEFT JOIN (
  SELECT trace_id, span_id, max(attributes['exception.message']) AS message, max("exception.type") AS type
  FROM span_events WHERE name = 'exception' GROUP BY trace_id, span_id
) x ON x.trace_id = c.trace_id AND x.span_id = c.span_id
WHERE c.instrumentation <> 'toolerrors' AND c.outcome = 'surfaced'"""
