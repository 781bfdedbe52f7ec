"""The PromQL and TraceQL that the panels are made of."""

from __future__ import annotations

from dashboards.panels import Query
from dashboards.series import SPAN_CALLS, counted, label
from otel_toolerrors.vocabulary import CallSpan, Event, Span, attributes_of


def key(record: type[Event | Span], field: str) -> str:
    """Attribute key of a field of the vocabulary."""
    return attributes_of(record)[field].key


def name(record: type[Event | Span], field: str) -> str:
    """Prometheus label of a field of the vocabulary."""
    return label(key(record, field))


def equal(labelled: str, value: str) -> str:
    """Matcher: the label has this value."""
    return f'{labelled}="{value}"'


def among(labelled: str, *values: str) -> str:
    """Matcher: the label has one of these values, which may be patterns or Grafana variables."""
    return f'{labelled}=~"{"|".join(values)}"'


SERVICE = among("job", "$service")
TOOL = among(name(CallSpan, "tool"), "$tool")
CALL = ",".join(
    [equal(name(CallSpan, "operation"), CallSpan.OPERATION), among(name(CallSpan, "agent"), "$agent"), SERVICE, TOOL]
)
"""Matchers of the logical calls that the variables select."""


def rate(series: str, *matchers: str, by: tuple[str, ...] = ()) -> str:
    """Increase a second, summed over everything but ``by``."""
    grouping = f" by ({', '.join(by)})" if by else ""
    return f"sum{grouping} (rate({series}{{{','.join(matchers)}}}[$__rate_interval]))"


def ratio(part: str, whole: str) -> str:
    """One sum divided by another."""
    return f"{part} / {whole}"


def quantile(share: float, histogram: str, *matchers: str, by: tuple[str, ...] = ()) -> str:
    """A quantile of a histogram over the rate interval."""
    return f"histogram_quantile({share}, {rate(f'{histogram}_bucket', *matchers, by=('le', *by))})"


def last_hour(series: str) -> str:
    """Increase over the last hour, of the services selected."""
    return f"sum(increase({series}{{{SERVICE}}}[1h]))"


def legend(*labels: str) -> str:
    """Grafana template that names a line after the values of its labels."""
    return " ".join(f"{{{{{one}}}}}" for one in labels)


def calls_by_outcome(outcome: str) -> Query:
    """Rate of the logical calls that ended in one way."""
    return Query(rate(SPAN_CALLS, equal(name(CallSpan, "outcome"), outcome), CALL), outcome)


def event_rate(event: type[Event], *fields: str, only: tuple[str, ...] = (SERVICE, TOOL)) -> Query:
    """Rate of an event, one line for each combination of the fields' values."""
    labels = tuple(name(event, field) for field in fields)
    return Query(rate(counted(event), *only, by=labels), legend(*labels))


def traceql(*conditions: str) -> str:
    """TraceQL for the spans of the services selected that meet every condition."""
    return "{ " + " && ".join(['resource.service.name =~ "${service:regex}"', *conditions]) + " }"


def spans_of_calls(*conditions: str) -> str:
    """TraceQL for the logical calls that the variables select."""
    return traceql(f'span.{key(CallSpan, "tool")} =~ "${{tool:regex}}"', *conditions)


def spans_with(event: type[Event], *conditions: str) -> str:
    """TraceQL for the spans on which an event happened."""
    return traceql(f'event:name = "{event.NAME}"', *conditions)
