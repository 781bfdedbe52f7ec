import json

from otel_toolerrors import analysis
from otel_toolerrors.cli.codes import ExitCode
from tests.analysis.ingest.otlp_lines import line, span


def _trace(folder):
    with analysis.open(folder) as traces:
        return traces.sql("SELECT trace_id FROM calls WHERE tool = 'read_file' ORDER BY start LIMIT 1").fetchall()[0][0]


def test_tree_shows_calls_attempts_and_decisions(command, recorded):
    """A trace is shown as a tree: the run, its calls, each attempt and each decision, in time."""
    trace = _trace(recorded)
    said = command("show", trace, recorded)
    assert said.code == ExitCode.DONE
    assert f"trace  {trace}" == said.out.splitlines()[0]
    for part in (
        "  invoke_agent tester",
        "    execute_tool read_file",
        "      fault.classified",
        "      error.surfaced",
    ):
        assert part in said.out


def test_beginning_of_an_id_is_enough(command, recorded):
    """The first characters of a trace id find it."""
    trace = _trace(recorded)
    assert command("show", trace, recorded).out == command("show", trace[:12], recorded).out


def test_unknown_trace_is_a_sentence(command, recorded):
    """A trace that is not there is told, with one that is."""
    said = command("show", "zz", recorded)
    assert said.code == ExitCode.USAGE
    assert said.err.startswith("toolerrors: zz: no such trace here. One that went wrong is ")


def test_ambiguous_beginning_is_a_sentence(command, recorded):
    """A beginning that fits several traces lists some of them."""
    said = command("show", "", recorded)
    assert said.code == ExitCode.USAGE
    assert "several traces begin like this" in said.err


def test_error_text_cannot_act_on_the_terminal(command, recorded):
    """Escape sequences and direction marks from a trace are shown, never sent."""
    said = command("show", _trace(recorded), recorded)
    assert "\x1b" not in said.out
    assert "\x07" not in said.out
    assert "\u202e" not in said.out


def test_json_holds_spans_and_events(command, recorded):
    """For programs, the same as rows; ASCII, so that printing it is harmless."""
    said = command("show", _trace(recorded), recorded, "--format", "json")
    shown = json.loads(said.out)
    assert said.out.isascii()
    assert {"trace_id", "spans", "events"} == set(shown)
    assert next(span["name"] for span in shown["spans"]) == "invoke_agent tester"


def test_spans_that_are_each_others_parents_are_shown(command, tmp_path):
    """Parents that lead in a circle, or a thousand levels deep, hide nothing."""
    circle = [span(1, name="one", parent=2), span(2, name="two", parent=1), span(3, name="own", parent=3)]
    deep = [span(n, name=f"level {n}", trace=1, parent=n - 1) for n in range(10, 2_010)]
    (tmp_path / "traces.jsonl").write_bytes(line(*circle, *deep))
    said = command("show", "0" * 31 + "1", tmp_path)
    assert all(name in said.out for name in ("one", "two", "own"))
    assert "level 2009" in command("show", "0" * 31 + "2", tmp_path).out
