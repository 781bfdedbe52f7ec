"""A call's span says all of what the vocabulary has for it, field by field."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolerrors.policy import Policy
from otel_toolerrors.testing import Bench
from otel_toolerrors.vocabulary import CallSpan, to_attributes
from tests.layer.errors import http_error


class Recorded:
    """A run whose spans are kept."""

    def __init__(self, **policy):
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.bench = Bench(Policy(**policy), tracer_provider=provider)

    def run(self):
        """Begin the run."""
        return self.bench.layer.run(agent="triage", conversation="c-81", run_id="r1", source="user_request")

    def said(self, tool):
        """What the only call of a tool says, without what no test can foretell: the digest of its arguments."""
        (span,) = [span for span in self._exporter.get_finished_spans() if span.name == f"execute_tool {tool}"]
        said = dict(span.attributes)
        assert len(said.pop("toolerrors.arguments_digest")) == 16
        return said

    def expected(self, tool, **fields):
        """The whole record, as it is rendered."""
        record = CallSpan(
            operation="execute_tool", tool=tool, tool_type="function", agent="triage", conversation="c-81", run_id="r1",
            source="user_request", arguments="", policy=self.bench.layer.policy.digest, **fields,
        )  # fmt: skip
        said = to_attributes(record)
        del said["toolerrors.arguments_digest"]
        return said


def test_calls_that_work_recover_and_fail(call):
    """What they share is said of each, and what one of them says is not said of the next."""
    recorded = Recorded()
    recorded.bench.tool("charge", http_error(503), "done", effects="idempotent", service="bank")
    recorded.bench.tool("find", ValueError("no such field"), effects="read")
    recorded.bench.tool("read", "text", effects="read")
    with recorded.run() as run:
        call(run, "charge", {"cents": 5}, call_id="t1", key="k1")
        call(run, "find")
        call(run, "read")
    fault = {"category": "transient", "code": "http.503"}
    assert recorded.said("charge") == recorded.expected(
        "charge", call_id="t1", index=0, service="bank", effects="idempotent", keyed=True, outcome="recovered",
        attempts=2, **fault,
    )  # fmt: skip
    failed = recorded.said("find")
    assert failed == recorded.expected(
        "find", index=1, service="find", effects="read", outcome="surfaced", attempts=1, category="validation",
        code=failed["error.type"], side_effects="unknown", error_type=failed["error.type"],
    )  # fmt: skip
    assert recorded.said("read") == recorded.expected(
        "read", index=2, service="read", effects="read", outcome="ok", attempts=1
    )


def test_an_observed_call(call):
    """It says that nothing was changed."""
    recorded = Recorded(mode="observe")
    recorded.bench.tool("read", "text", effects="read")
    with recorded.run() as run:
        call(run, "read")
    assert recorded.said("read") == recorded.expected(
        "read", index=0, service="read", effects="read", outcome="ok", attempts=1, observed=True
    )


@pytest.mark.parametrize("reads", ["before", "after"])
def test_a_call_says_the_policy_that_its_run_began_with(call, reads):
    """A policy that is loaded meanwhile holds for later runs, whether or not a call came before it."""
    recorded = Recorded()
    recorded.bench.tool("read", "text", effects="read")
    recorded.bench.tool("warm", "text", effects="read")
    digest = recorded.bench.layer.policy.digest
    with recorded.run() as run:
        if reads == "after":
            call(run, "warm")
        recorded.bench.layer.reload(Policy(retry={"max_attempts": 7}))
        call(run, "read")
    assert recorded.said("read")["toolerrors.policy.digest"] == digest
