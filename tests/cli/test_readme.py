import json
import re
import subprocess
import sys
from pathlib import Path

from otel_toolerrors import analysis

README = Path(__file__).parents[2] / "README.md"


STAND_INS = """
from types import SimpleNamespace

class Model:
    turns = [
        [SimpleNamespace(name="search", arguments={"query": "x"}, id="a")],
        [SimpleNamespace(name="serach", arguments={}, id="b")],
    ]
    answers = {}

    def turn(self, tools):
        assert [tool["name"] for tool in tools] == ["search"]
        return self.turns.pop(0) if self.turns else []

    def answer(self, request, text, *, is_error):
        self.answers[request] = text, is_error

model, catalogue = Model(), SimpleNamespace(search=lambda query: [f"found {query}"])
"""
"""For a language model, which asks twice and keeps what it is told; and for what the agent's tool asks."""

REPORT = """
import json
print(json.dumps(model.answers))
"""


def test_instrumented_loop_of_the_readme_runs(tmp_path):
    """The ten lines of the README run as they stand, answer every request, and leave traces."""
    code = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[0]
    # In a process of its own: it sets the tracer provider of the process.
    script = tmp_path / "agent.py"
    script.write_text(STAND_INS + code + REPORT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert not done.returncode, done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    assert ['["found x"]', False] == answers["a"]
    text, is_error = answers["b"]
    assert is_error
    assert "search" in text
    with analysis.open(tmp_path / ".toolerrors" / "traces") as traces:
        assert [(1, 2)] == traces.sql("SELECT count(DISTINCT run_id), count(*) FROM calls").fetchall()
