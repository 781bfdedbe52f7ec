import json
import stat

from otel_toolerrors.cli.codes import ExitCode
from tests.analysis.fleets import planted

TEMPLATE = "https://jaeger.example/trace/{trace_id}?uiFind={span_id}"


def test_one_file_that_needs_nothing_else(command, recorded, tmp_path):
    """The page is written for its owner alone, holds the run's numbers, and loads nothing."""
    out = tmp_path / "page.html"
    said = command("report", recorded, "--out", out, "--title", "Nightly")
    page = out.read_text()
    assert said.code == ExitCode.DONE
    assert f"Written to {out}" in said.out
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "<h1>Nightly</h1>" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_report_is_not_overwritten(command, recorded, tmp_path):
    """A page that exists is kept, unless told otherwise."""
    out = tmp_path / "page.html"
    out.write_text("mine")
    said = command("report", recorded, "--out", out)
    assert said.code == ExitCode.USAGE
    assert "overwrite it with --force" in said.err
    assert out.read_text() == "mine"
    assert ExitCode.DONE == command("report", recorded, "--out", out, "--force").code


def test_evidence_links_to_the_viewer(command, tmp_path):
    """Each span that a finding names is a link made from the template."""
    planted("stale_hint").export(tmp_path / "fleet")
    out = tmp_path / "page.html"
    said = command("report", tmp_path / "fleet", "--out", out, "--trace-url", TEMPLATE, "--format", "json")
    assert json.loads(said.out)["findings"]
    assert 'href="https://jaeger.example/trace/' in out.read_text()


def test_a_template_without_an_id_is_refused(command, recorded, tmp_path):
    """An address that leads to no trace is told before anything is read."""
    for template in ("https://jaeger.example/", "javascript:{trace_id}", "https://x/{other}"):
        said = command("report", recorded, "--out", tmp_path / "page.html", "--trace-url", template)
        assert said.code == ExitCode.USAGE
        assert "--trace-url: a trace's address" in said.err
    assert not (tmp_path / "page.html").exists()


def test_a_place_that_cannot_be_written_is_a_sentence(command, recorded, tmp_path):
    """A missing folder is told with the option to change."""
    said = command("report", recorded, "--out", tmp_path / "nowhere" / "page.html")
    assert said.code == ExitCode.USAGE
    assert "Name another file with --out" in said.err
