"""Bad input: what is sound is read, what is not is told with its place, and nothing is dropped in silence."""

import json

import pytest

from otel_toolerrors.analysis.ingest import chunks

from .otlp_lines import line, span

GOOD = line(span(1))
ALSO_GOOD = line(span(2))


def changed(old: bytes, new: bytes) -> bytes:
    """Write a line whose span is changed in one place."""
    content = line(span(3, {"k": 5}, name="x", events=[{"timeUnixNano": "5", "name": "e", "attributes": []}]))
    assert old in content
    return content.replace(old, new, 1)


# What the file is: content, numbers of the spans read, what quarantine says (a part of each reason).
# A writer that was killed, a disk that was full and copied files cut, glue and pad lines; other writers than the SDKs
# spell numbers, names and times in their own ways; and a folder of traces holds what is none.
CASES = {
    "garbage between lines": (GOOD + b"%%% not json\n" + ALSO_GOOD, [1, 2], ["not JSON"]),
    "a line cut in the middle": (GOOD + GOOD[:80] + b"\n" + ALSO_GOOD, [1, 2], ["not JSON"]),
    "a torn last line": (GOOD + ALSO_GOOD[:80], [1], ["not finished"]),
    "a last line without its end": (GOOD + ALSO_GOOD[:-1], [1, 2], []),
    "two requests on one line": (GOOD[:-1] + ALSO_GOOD, [1, 2], []),
    "a torn line with the next glued to it": (line(span(4))[:60] + GOOD + ALSO_GOOD, [1, 2], ["not JSON"]),
    "blank lines": (GOOD + b"\n \n" + ALSO_GOOD, [1, 2], []),
    "a line of NUL bytes": (GOOD + b"\0" * 64 + b"\n" + ALSO_GOOD, [1, 2], []),
    "NUL bytes before a line": (GOOD + b"\0" * 64 + ALSO_GOOD, [1, 2], ["not JSON"]),
    "NUL bytes at the end": (GOOD + ALSO_GOOD + b"\0" * 64, [1, 2], []),
    "invalid UTF-8": (GOOD + changed(b'"x"', b'"\xff\xfe"'), [1, 3], ["invalid UTF-8"]),
    "half a surrogate pair": (GOOD + changed(b'"x"', b'"\\ud800"'), [1, 3], []),
    "a time that is a word": (GOOD + changed(b'"1790000000000000000"', b'"soon"'), [1], ["startTimeUnixNano 'soon'"]),
    "a time out of range": (GOOD + changed(b'"1790000000000000000"', b'"99999999999999999999"'), [1], ["no time"]),
    "a negative time": (GOOD + changed(b'"1790000000000000000"', b"-5"), [1], ["no time"]),
    "a time as a number": (GOOD + changed(b'"1790000000000000000"', b"1790000000000000000"), [1, 3], []),
    "a time as a float": (GOOD + changed(b'"1790000000000000000"', b"1.79e18"), [1, 3], []),
    "no times": (GOOD + changed(b'"startTimeUnixNano":"1790000000000000000",', b""), [1, 3], []),
    "an event's time that is a word": (GOOD + changed(b'"5","name":"e"', b'"soon","name":"e"'), [1, 3], ["'soon'"]),
    "an integer as a number": (GOOD + changed(b'"5"}}]', b"5}}]"), [1, 3], []),
    "an integer that overflows": (GOOD + changed(b'"5"}}]', b'"99999999999999999999"}}]'), [1, 3], []),
    "an attribute without a value": (GOOD + changed(b'{"intValue":"5"}', b"{}"), [1, 3], []),
    "an attribute that is null": (GOOD + changed(b'{"intValue":"5"}', b"null"), [1, 3], []),
    "an attribute without a key": (GOOD + changed(b'"key":"k",', b""), [1, 3], ["without a key"]),
    "the same attribute twice": (
        GOOD + changed(b'"attributes":[{"key":"k"', b'"attributes":[{"key":"k","value":{}},{"key":"k"'),
        [1, 3],
        [],
    ),
    "a NaN as a string": (GOOD + changed(b'{"intValue":"5"}', b'{"doubleValue":"NaN"}'), [1, 3], []),
    "a NaN as a literal": (GOOD + changed(b'{"intValue":"5"}', b'{"doubleValue":NaN}'), [1, 3], []),
    "a list": (b"[]\n" + GOOD, [1], []),
    "a list of requests": (b"[" + GOOD[:-1] + b"," + ALSO_GOOD[:-1] + b"]\n", [1, 2], []),
    "a string": (b'"hi"\n' + GOOD, [1], ["a JSON string"]),
    "a number": (b"5\n" + GOOD, [1], ["a JSON number"]),
    "null": (b"null\n" + GOOD, [1], ["a JSON null"]),
    "an object of another kind": (b'{"a":1}\n' + GOOD, [1], ["no OTLP export request"]),
    "an empty request": (b'{"resourceSpans":[]}\n' + GOOD, [1], []),
    "logs and metrics": (b'{"resourceLogs":[]}\n{"resourceMetrics":[{"x":[1]}]}\n' + GOOD, [1], []),
    "spans that are no list": (
        GOOD + b'{"resourceSpans":[{"scopeSpans":[{"spans":{"traceId":"a"}}]}]}\n', [1], ["not a list"]
    ),
    "a span that is a string": (GOOD + changed(b'"spans":[', b'"spans":["x",'), [1, 3], ["spans[0]"]),
    "a span that is null": (GOOD + changed(b'"spans":[', b'"spans":[null,'), [1, 3], ["spans[0]"]),
    "a span without ids": (GOOD + changed(b'"traceId"', b'"trace"'), [1], ["traceId is missing"]),
    "an id of another length": (GOOD + changed(b'"spanId":"', b'"spanId":"0'), [1], ["hexadecimal digits"]),
    "an id beyond ASCII": (GOOD + changed(b'"spanId":"', b'"spanId":"\xce\xb1'), [1], ["hexadecimal digits"]),
    "a kind by name": (GOOD + changed(b'"kind":1', b'"kind":"SPAN_KIND_CLIENT"'), [1, 3], []),
    "a kind that nobody knows": (GOOD + changed(b'"kind":1', b'"kind":"SPAN_KIND_NEW"'), [1, 3], []),
    "a field twice": (GOOD + changed(b'"name":"x"', b'"name":"x","name":"y"'), [1, 3], []),
    "an unknown field": (GOOD + changed(b'"kind":1', b'"new":{"a":[1]},"kind":1'), [1, 3], []),
    "CRLF": (GOOD.replace(b"\n", b"\r\n") + ALSO_GOOD.replace(b"\n", b"\r\n"), [1, 2], []),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD + ALSO_GOOD, [1, 2], []),
    "a raw tab in a string": (GOOD + changed(b'"x"', b'"a\tb"'), [1, 3], []),
    "a comment": (b"// written by hand\n" + GOOD, [1], ["not JSON"]),
    "a very long line": (GOOD + changed(b'"x"', b'"' + b"x" * 20_000_000 + b'"') + ALSO_GOOD, [1, 2, 3], []),
    "nesting without end": (b'{"resourceSpans":' + b"[" * 100_000 + b"\n" + GOOD, [1], [""]),
    "nothing": (b"", [], []),
    "only blanks": (b"  \n\n", [], []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_reads_what_is_sound_and_tells_what_is_not(name, load):
    """Every sound span is read, and every unsound part leaves a row that names file, line, offset and reason."""
    content, spans, reasons = CASES[name]
    traces = load(content)
    found = traces.sql("SELECT span_id FROM spans ORDER BY ALL").fetchall()
    assert [f"{number + 1:016x}" for number in spans] == [row[0] for row in found]
    rows = traces.sql('SELECT path, line, "offset", reason, head FROM quarantine ORDER BY line').fetchall()
    assert len(reasons) == len(rows), rows
    for reason, row in zip(reasons, rows, strict=True):
        assert reason in row[3]
    assert len(rows) == traces.ingested.quarantined


# What stands in the table for a spelling that is odd but sound: of the changed span, a column and its value.
VALUES = {
    "invalid UTF-8": ("name", "\ufffd\ufffd"),
    "half a surrogate pair": ("name", "?"),
    "a raw tab in a string": ("name", "a\tb"),
    "a field twice": ("name", "y"),
    "a time as a number": ("start_ns", 1_790_000_000_000_000_000),
    "a time as a float": ("start_ns", 1_790_000_000_000_000_000),
    "no times": ("nullif(start_ns, 0)", None),
    "a kind by name": ("kind", "CLIENT"),
    "a kind that nobody knows": ("kind", None),
    "an integer as a number": ("attributes['k']", "5"),
    "an integer that overflows": ("attributes['k']", "99999999999999999999"),
    "an attribute without a value": ("attributes['k']", None),
    "the same attribute twice": ("attributes['k']", "5"),
    "a NaN as a string": ("attributes['k']", "NaN"),
    "a NaN as a literal": ("attributes['k']", "NaN"),
}


@pytest.mark.parametrize("name", VALUES)
def test_reads_an_odd_spelling_as_what_it_says(name, load):
    """What is read is the value that was meant, or nothing; never another value."""
    column, expected = VALUES[name]
    traces = load(CASES[name][0])
    assert [(expected,)] == traces.sql(f"SELECT {column} FROM spans WHERE span_id LIKE '%4'").fetchall()  # noqa: S608


_LEFT_OUT = ["is no bigint; the attribute was left out"]


@pytest.mark.parametrize(
    ("value", "number", "told"),
    [
        (b'{"intValue":5}', 5, []),
        (b'{"doubleValue":5.0}', 5, []),
        (b'{"stringValue":"5"}', 5, []),
        (b"{}", None, []),
        (b'{"intValue":"99999999999999999999"}', None, _LEFT_OUT),
        (b'{"stringValue":"five"}', None, _LEFT_OUT),
        (b'{"doubleValue":"NaN"}', None, _LEFT_OUT),
        (b'{"boolValue":true}', None, _LEFT_OUT),
    ],
)
def test_an_attribute_of_ours_that_is_no_number_is_told(value, number, told, load):
    """An attribute that has a column of numbers is the number, or is left out with a row that says so."""
    content = line(span(1, {"toolerrors.attempt": 5}))
    assert b'{"intValue":"5"}' in content
    traces = load(content.replace(b'{"intValue":"5"}', value))
    assert [(number,)] == traces.sql('SELECT "toolerrors.attempt" FROM spans').fetchall()
    assert told == [row[0].rpartition("' ")[2] for row in traces.sql("SELECT reason FROM quarantine").fetchall()]


def test_names_line_and_offset(load):
    """A row of quarantine points at the bad line, also far into the file."""
    before = b"".join(line(span(number, {"pad": "x" * 400})) for number in range(2_000))
    traces = load(before, b"%%% broken\n", GOOD)
    rows = traces.sql('SELECT line, "offset", head FROM quarantine').fetchall()
    assert [(2_001, len(before), "%%% broken")] == rows


def test_keeps_the_siblings_of_a_bad_span(load):
    """One bad span costs that span, not its request."""
    traces = load(line(span(1), span(2, endTimeUnixNano="late"), span(3)))
    assert [("0000000000000002",), ("0000000000000004",)] == traces.sql(
        "SELECT span_id FROM spans ORDER BY 1"
    ).fetchall()
    ((reason,),) = traces.sql("SELECT reason FROM quarantine").fetchall()
    assert "endTimeUnixNano 'late'" in reason


def test_an_event_attribute_that_is_no_scalar_is_kept_as_json(load):
    """A list or a map is text in the leftovers, and a word that is no scalar does not cost its event."""
    odd = {"timeUnixNano": "5", "name": "toolerrors.fault.classified", "attributes": [
        {"key": "toolerrors.code", "value": {"arrayValue": {"values": [{"stringValue": "a"}]}}},
        {"key": "toolerrors.attempt", "value": {"kvlistValue": {"values": []}}},
        {"key": "extra", "value": {"bytesValue": "AAE="}},
    ]}  # fmt: skip
    traces = load(line(span(1, events=[odd])))
    ((code, attempt, extra),) = traces.sql(
        'SELECT "toolerrors.code", "toolerrors.attempt", attributes[\'extra\'] FROM span_events'
    ).fetchall()
    assert {"values": [{"stringValue": "a"}]} == json.loads(code)
    assert attempt is None
    assert extra == "AAE="
    ((reason,),) = traces.sql("SELECT reason FROM quarantine").fetchall()
    assert "attribute toolerrors.attempt" in reason


def test_a_file_of_another_kind_is_one_row(load):
    """Something that is no trace file at all is told once, not line by line."""
    traces = load(b"\x7fELF\0\0\0\n" * 5_000)
    assert [(1, "neither JSON, OTLP protobuf nor Parquet")] == traces.sql(
        "SELECT line, reason FROM quarantine"
    ).fetchall()


def test_a_line_too_long_to_hold_is_told_unread(load, monkeypatch):
    """Such a line is one row of the quarantine, with its size; the lines around it are read."""
    monkeypatch.setattr(chunks, "_BLOCK", 1 << 10)
    monkeypatch.setattr(chunks, "LONGEST_LINE", 4 << 10)
    unfinished = b'{"resourceSpans'  # a file that ends in a whole line would be left to DuckDB uncut
    traces = load(GOOD, b"x" * 10_000 + b"\n", ALSO_GOOD, unfinished)
    told = traces.sql('SELECT line, "offset", reason FROM quarantine ORDER BY line').fetchall()
    assert [(2, len(GOOD), "a line of 10,001 bytes; 4,096 is the limit")] == told[:1]
    assert [4] == [row[0] for row in told[1:]]
    assert [(2,)] == traces.sql("SELECT count(*) FROM spans").fetchall()
