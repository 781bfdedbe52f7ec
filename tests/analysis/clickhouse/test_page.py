"""What the page about ClickHouse advises works."""

import re
from pathlib import Path

from chdb.session import Session

from otel_toolerrors import analysis
from otel_toolerrors.analysis.clickhouse import contract
from tests.analysis.ingest.otlp_lines import call_record, line, span

PAGE = Path(__file__).parents[3] / "docs" / "clickhouse.md"


def test_agents_put_aside(stored, tmp_path):
    """The materialized view takes what the analysis would look at, and can be opened in its place."""
    (advice,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (listed,) = re.findall(r"SpanAttributes\), \[(.*?)\]", advice, flags=re.DOTALL)
    file = tmp_path / "traces.jsonl"
    file.write_bytes(line(span(1, call_record(), name="execute_tool search"), span(2, {"db.system": "sqlite"})))
    address = stored(file).replace("otel.otel_traces", "otel.agent_traces")

    session = Session(address.removeprefix("chdb://").partition("?")[0])
    session.query("USE otel")
    # The spans of the tests will be older than what the page keeps.
    for statement in advice.replace("180 DAY", "50 YEAR").split(";"):
        if statement.strip():
            session.query(statement)
    session.query("INSERT INTO otel_traces SELECT * FROM otel_traces")
    session.close()

    assert list(contract._MARKS) == re.findall(r"'(.*?)'", listed)
    with analysis.open(address) as traces:
        assert [("search",)] == traces.sql("SELECT tool FROM calls").fetchall()
        assert 1 == traces.ingested.spans
