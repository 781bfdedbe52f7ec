"""The HTML report: complete, self-contained, and safe against what traces say."""

import re
from html.parser import HTMLParser

import pytest

from otel_toolerrors.analysis.findings import Evidence, Finding
from otel_toolerrors.analysis.patch import Change, Patch
from otel_toolerrors.analysis.report import JAEGER, report, write_report
from tests.analysis.fleets import planted

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">"\'</pre>{{ 7 * 7 }}'


class Page(HTMLParser):
    """Collects what a page holds."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.addresses, self.handlers, self.text = [], [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "srcset", "action")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def traces():
    """Traces with something to find."""
    return planted("should_retry", "stale_hint", "overhead")


def test_a_report_holds_every_finding_with_its_evidence_and_patch(traces):
    """Titles, spans and proposed changes of all findings are on the page."""
    page = Page(report(traces))

    for finding in traces.findings():
        assert finding.title in page.text
        assert all(f"{one.trace_id} / {one.span_id}" in page.text for one in finding.evidence)
        assert finding.patch is None or finding.patch.toml().splitlines()[0] in page.text


def test_a_report_needs_nothing_from_elsewhere(traces):
    """Images are in the page, there is no script, and the policy forbids both."""
    html = report(traces)
    page = Page(html)

    assert all(address.startswith("data:image/svg+xml;base64,") for address in page.addresses)
    assert not {"script", "link", "iframe", "object", "form"} & set(page.tags)
    assert "default-src 'none'" in html


def test_markup_in_traces_stays_text(traces):
    """Whatever a tool's error, name or id holds is shown, not run."""
    finding = Finding(
        kind="unknown_cluster",
        severity="high",
        title=HOSTILE,
        explanation=HOSTILE,
        tool=HOSTILE,
        counts={HOSTILE: 1},
        evidence=(Evidence(HOSTILE, HOSTILE),),
        patch=Patch("policy", (Change(("tools", HOSTILE, "optional"), True, HOSTILE),)),  # noqa: FBT003
    )
    page = Page(report(traces, findings=[finding], title=HOSTILE, trace_url=JAEGER))

    assert "script" not in page.tags
    assert page.tags.count("img") == 2
    assert page.handlers == []
    assert "{{ 7 * 7 }}" in page.text


def test_spans_link_to_the_viewer(traces):
    """With a template, each span has an address that holds its ids and nothing else."""
    page = Page(report(traces, trace_url="https://traces.example/t/{trace_id}?s={span_id}"))
    links = [address for address in page.addresses if not address.startswith("data:")]

    assert links
    assert all(re.fullmatch(r"https://traces\.example/t/[0-9a-f]{32}\?s=[0-9a-f]{16}", link) for link in links)


def test_an_id_cannot_leave_its_place_in_the_address(traces):
    """Ids are quoted: they add no path, query or scheme."""
    finding = Finding(
        kind="x", severity="low", title="t", explanation="e", evidence=(Evidence("../a?b=c#d", "javascript:alert(1)"),)
    )
    page = Page(report(traces, findings=[finding], trace_url=JAEGER))
    link, *others = [address for address in page.addresses if not address.startswith("data:")]

    assert all(other.startswith("http://localhost:16686/trace/") for other in others)
    assert link == "http://localhost:16686/trace/..%2Fa%3Fb%3Dc%23d?uiFind=javascript%3Aalert%281%29"


@pytest.mark.parametrize(
    "template", ["javascript:alert('{trace_id}')", "https://x/{other}", "https://x/", "{trace_id}", "https://x/{0}"]
)
def test_a_template_that_is_no_address_is_refused(traces, template):
    """The error shows what was given."""
    with pytest.raises(ValueError, match="a trace's address"):
        report(traces, findings=[], trace_url=template)


def test_a_report_without_findings_says_what_that_means(traces):
    """No finding is not a promise."""
    assert "not that nothing went wrong" in Page(report(traces, findings=[])).text


def test_a_report_is_its_owners(traces, tmp_path):
    """The file is not readable by others: it holds messages from tools."""
    path = write_report(tmp_path / "report.html", report(traces, findings=[]))

    assert path.stat().st_mode & 0o777 == 0o600
