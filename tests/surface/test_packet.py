import json

import pytest

from otel_toolerrors.surface import Envelope, RecoveryPacket, packets_to
from otel_toolerrors.testing import Bench
from otel_toolerrors.vocabulary import PacketIssued
from tests.layer.errors import http_error


def outcome_of(error, effects="write", **call):
    """Fail one call and give its outcome, with the packets that were handed over."""
    packets = []
    bench = Bench(on_packet=packets.append)
    bench.tool("deploy", error, effects=effects)
    with bench.layer.run(run_id="00000000000000aa") as run:
        outcome = run.call("deploy", {"env": "prod"}, **call)
    assert len(bench.of(PacketIssued)) == len(packets)
    return outcome, packets


def test_a_write_that_may_have_happened_tells_what_is_safe():
    """The person is told to verify first, and what not to do."""
    outcome, packets = outcome_of(TimeoutError("timed out"))
    packet = outcome.packet
    assert [packet] == packets
    assert ("unknown", 1, "exhausted") == (packet.side_effects, packet.attempts, packet.stop_reason)
    assert packet.safe_next_actions[0].startswith("verify whether")
    assert "do not repeat the operation before its effect is known" in packet.unsafe_next_actions
    assert "First: verify whether" in packet.suggested_prompt


def test_with_a_key_the_same_key_is_the_safe_repeat():
    """What is unsafe is a new key."""
    packet = outcome_of(TimeoutError("timed out"), key="k")[0].packet
    assert "repeat it with the same idempotency key" in packet.safe_next_actions
    assert "do not repeat it with a new idempotency key" in packet.unsafe_next_actions


def test_denied_access_names_the_credentials():
    """A permission packet has nothing unsafe: nothing happened."""
    packet = outcome_of(PermissionError(13, "denied"), effects="read")[0].packet
    assert ("check the credentials and the access rights of this tool",) == packet.safe_next_actions
    assert () == packet.unsafe_next_actions


def test_a_surfaced_read_needs_no_packet():
    """What the model can fix needs no person."""
    outcome, packets = outcome_of(ValueError("bad"), effects="read")
    assert outcome.packet is None
    assert [] == packets


def test_compact_form_is_for_a_terminal():
    """One fact a line, the trace first."""
    text = outcome_of(http_error(429, {"retry-after": "9000"}))[0].packet.as_text()
    assert [
        "[00000000000000aa] deploy",
        "status: failed",
        "code: http.429",
        "side effects: none",
        "attempts: 1",
        "retry after: 9000 s",
        "safe next action: wait for the time given, or ask for a higher limit",
    ] == text.splitlines()


def test_arguments_are_in_no_packet():
    """The failed step is named by a digest."""
    packet = outcome_of(TimeoutError("timed out"))[0].packet
    assert "prod" not in packet.model_dump_json()
    assert packet.failed_step.startswith("deploy ")


def test_a_callback_that_raises_changes_nothing():
    """Paging somebody may fail; the outcome stands."""

    def broken(_packet):
        raise RuntimeError("pager is down")

    bench = Bench(on_packet=broken, on_event=broken)
    bench.tool("deploy", TimeoutError("timed out"))
    with bench.layer.run() as run:
        assert "stopped" == run.call("deploy").kind


@pytest.mark.parametrize(
    ("error", "effects", "fields"),
    [
        (ValueError("bad"), "read", ("validation", False, "none", False)),
        (FileNotFoundError(2, "none"), "read", ("not_found", False, "none", False)),
        (TimeoutError("late"), "write", ("transient", False, "unknown", True)),
        (PermissionError(13, "denied"), "read", ("permission", False, "none", True)),
    ],
)
def test_envelope_drives_the_next_step(error, effects, fields):
    """Category, whether to repeat, whether it happened, whether a person must act."""
    error = outcome_of(error, effects)[0].envelope.error
    assert fields == (error.category, error.retryable, error.side_effects, error.human_action_required)
    assert error.summary
    assert error.recovery_hint


def test_published_schema_is_the_model_s(request):
    """docs/envelope.schema.json is what the code says; `make docs-reference` rewrites it."""
    published = request.config.rootpath / "docs" / "envelope.schema.json"
    assert Envelope.model_json_schema() == json.loads(published.read_text(encoding="utf-8"))


def test_packets_can_be_kept_in_a_folder(tmp_path):
    """One private file a packet, readable again."""
    folder = tmp_path / "packets"
    outcome, _ = outcome_of(TimeoutError("timed out"))
    write = packets_to(folder)
    write(outcome.packet)
    write(outcome.packet)
    files = sorted(folder.iterdir())
    assert 2 == len(files)
    assert [outcome.packet] * 2 == [RecoveryPacket.model_validate_json(file.read_text()) for file in files]
    assert {0o600} == {file.stat().st_mode & 0o777 for file in files}


def test_a_schema_says_what_the_fields_mean_where_there_are_sources():
    """A model that is made at run time, whose sources nobody has, still has a schema."""
    schema = RecoveryPacket.model_json_schema()
    assert schema["properties"]["tried"]["description"] == "Tools called, one name per attempt."
    made = type("Made", (Envelope,), {"__module__": "nowhere"})
    assert "error" in made.model_json_schema()["properties"]
