"""Tempo is not built here (see docs/collector.md): its queries are parsed with Grafana's grammar, not run."""

import json
import os
import subprocess
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.real.parts import DASHBOARDS, built, installed

pytestmark = pytest.mark.real

PARSE = """
const { parser } = require("@grafana/lezer-traceql");
const faults = JSON.parse(process.argv[1]).filter((query) => {
  let wrong = false;
  parser.parse(query).iterate({ enter: (node) => { wrong ||= node.type.isError; } });
  return wrong;
});
console.log(JSON.stringify(faults));
"""


def _unparsable(queries: list[str]) -> list[str]:
    done = subprocess.run(
        [installed("node", "nodejs"), "-e", PARSE, json.dumps(queries)],
        env=os.environ | {"NODE_PATH": str(built("traceql") / "node_modules")},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_link_to_traces_is_a_traceql_query():
    """What the panels link to parses."""
    queries = [
        json.loads(parse_qs(urlsplit(link["url"]).query)["panes"][0])["traces"]["queries"][0]["query"]
        for path in DASHBOARDS.glob("*.json")
        for panel in json.loads(path.read_text())["panels"]
        for link in panel["links"]
    ]
    assert len(queries) > 20
    assert [] == _unparsable(queries)


def test_what_is_no_traceql_is_found():
    """The grammar can say no."""
    broken = ["{ span.toolerrors.outcome = }", "{ event:name = ", "span.name"]
    assert broken == _unparsable(broken)
