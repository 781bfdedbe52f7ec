"""The tutorial's agent, in Jaeger."""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.walk import TUTORIAL, files
from tests.real.parts import Jaeger, eventually

pytestmark = pytest.mark.real


def test_the_agent_is_seen_in_jaeger_by_its_environment_alone(tmp_path, start):
    """With an OTLP endpoint in the environment, Jaeger shows each run of the agent, and no file is written."""
    jaeger = start(Jaeger(tmp_path))
    for name, text in files(TUTORIAL.read_text(encoding="utf-8")).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    said = re.search(r"^export (.*)$", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE)[1]
    exported = dict(pair.split("=", 1) for pair in said.replace("localhost:4317", jaeger.otlp).split())
    environment = os.environ | {"ORDERS": "3"} | exported
    done = subprocess.run(
        [sys.executable, "agent.py"], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert "" == done.stderr

    def shown() -> set[str]:
        return {span["traceId"] for span in jaeger.spans("order-desk", "invoke_agent order-desk")}

    eventually(lambda: len(shown()) == 3, "Jaeger shows three runs")
    assert not (tmp_path / ".toolerrors").exists()
