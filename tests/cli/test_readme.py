import re
from pathlib import Path
from types import SimpleNamespace

from opentelemetry import trace

from otel_toolerrors import analysis

README = Path(__file__).parents[2] / "README.md"


class _Model:
    """Stands in for a language model: it asks twice, and keeps what it is told."""

    def __init__(self):
        self.turns = [
            [SimpleNamespace(name="search", arguments={"query": "x"}, id="a")],
            [SimpleNamespace(name="serach", arguments={}, id="b")],
        ]
        self.answers = {}

    def turn(self, tools):
        assert [tool["name"] for tool in tools] == ["search"]
        return self.turns.pop(0) if self.turns else []

    def answer(self, request, text, *, is_error):
        self.answers[request] = (text, is_error)


def test_instrumented_loop_of_the_readme_runs(tmp_path, monkeypatch):
    """The ten lines of the README run as they stand, answer every request, and leave traces."""
    code = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[0]
    model = _Model()
    monkeypatch.chdir(tmp_path)
    catalogue = SimpleNamespace(search=lambda query: [f"found {query}"])
    names = {"model": model, "catalogue": catalogue}
    exec(compile(code, str(README), "exec"), names)  # noqa: S102 - our own page
    trace.get_tracer_provider().force_flush()
    assert model.answers["a"] == ('["found x"]', False)
    assert model.answers["b"][1] is True
    assert "search" in model.answers["b"][0]
    with analysis.open(tmp_path / ".toolerrors" / "traces") as traces:
        assert [(1, 2)] == traces.sql("SELECT count(DISTINCT run_id), count(*) FROM calls").fetchall()
