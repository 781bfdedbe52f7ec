import base64
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.faults import fingerprint, redact

SAMPLES = json.loads(Path(__file__).with_name("secrets.json").read_text("utf-8"))["samples"]
KEY = "sk-" + "aB3xY9" * 6
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxIn0" + ".c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("could not connect to postgresql://app:hunter2x@db:5432/prod", "hunter2x"),
        ("redis://:s3cretpw@cache:6379/0 refused", "s3cretpw"),
        (f"headers={{'Authorization': 'Bearer {JWT}'}}", JWT),
        (f"authorization: Bearer {KEY}", KEY),
        (f"Incorrect API key provided: {KEY}.", KEY),
        (f"GET https://api.example.org/v1?api_key={KEY}&limit=5 failed", KEY),
        ("Basic dXNlcjpwYXNzd29yZDEyMw== was refused", "dXNlcjpwYXNzd29yZDEyMw"),
        ("password=correct-horse user=bob", "correct-horse"),
        ('{"client_secret": "abcdef123", "id": 7}', "abcdef123"),
        ("Server=db;User ID=sa;Password=Pa$$w0rd!;", "Pa$$w0rd!"),
        ("AccountName=x;AccountKey=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==;EndpointSuffix=y", "Zm9vYmFyYmF6cXV4"),
        ("Set-Cookie: session=abc123def456; Path=/", "abc123def456"),
        ("AWS key AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza", "b3BlbnNza"),
        (f"token {JWT} has expired", JWT),
        ("password             => 'thisismine'", "thisismine"),
        ("the default password is 'centipede'", "centipede"),
        ("hash $2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW is old", "R9h/cIPz0gi"),
        ("-Dbuild.login=5524bf449ca45fcace54698371466398321f3a82", "5524bf449ca4"),
        ("field('API_KEY', '951bc382db9cfee29c68634761dd6e19')", "951bc382db9c"),
    ],
)
def test_secrets_are_gone(text, secret):
    """Each structure that carries a secret loses it and keeps the rest."""
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "rate limit exceeded: 90000 tokens per minute, 5400 used",
        "request_id: req_011CSHoEeqs5C35K2UUqR7Fy failed",
        "no such file: /srv/data/2026-11-21/report_final_v2.csv",
        "order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 not found",
        "commit 9f2b6c01d4e8a7f39f2b6c01d4e8a7f39f2b6c01 is not on main",
        "unexpected token '<' at line 3",
        "password is required",
        "invalid token: expired",
        "HTTPSConnectionPool(host='api.example.org', port=443): Max retries exceeded",
        "models.OrganizationMembershipSerializerV2.validate_email_address",
        "--- PASS: TestFormatCheckpointOutput_Short (0.00s)",
        "password = env.TEST_PASSWORD is not set",
        "login at commit 9f2b6c01d4e8a7f39f2b6c01d4e8a7f39f2b6c01",
        "the password is 'required'",
    ],
)
def test_what_an_error_is_about_stays(text):
    """Counts, ids, paths, hashes and prose about secrets are no secrets."""
    assert text == redact(text)


def test_recorded_secrets_are_gone():
    """A detector's own examples, one a rule, each of another service."""

    def plain(text):
        return base64.b64decode(text).decode()

    leaked = [row["rule"] for row in SAMPLES if plain(row["secret"]) in redact(plain(row["text"]), 20_000)]

    assert [] == leaked
    assert len(SAMPLES) > 100


def test_a_secret_across_the_cut_is_gone():
    """The text is judged whole before it is cut."""
    for place in range(900, 1_010, 7):
        assert "aB3xY9aB3x" not in redact("x " * (place // 2) + KEY + " y" * 2_000)


def test_a_cut_is_visible_and_the_text_is_one_line():
    """The beginning and the end stay; control characters do not."""
    text = redact("start " + "x" * 5_000 + "\x1b[31m\n\x00 end")

    assert 1_000 == len(text)
    assert text.startswith("start")
    assert text.endswith("end")
    assert "[cut]" in text
    assert text.isprintable()


@given(st.text(max_size=300), st.integers(min_value=0, max_value=200))
def test_any_text_is_bounded_and_printable(text, limit):
    """Whatever comes in, one printable line within the limit goes out; redacting it again changes nothing."""
    out = redact(text, limit)

    assert len(out) <= limit
    assert out.isprintable()


def test_a_fingerprint_groups_what_differs_in_details_only():
    """Ids, numbers, paths, quoted words and case do not count; the type, the code and the words do."""
    first = fingerprint(
        "KeyError", "not_found", "Order 17 of user 'ann' not in /srv/a/b.json (3f2504e0-4f89-11d3-9a0c-0305e82c3301)"
    )
    second = fingerprint(
        "KeyError", "not_found", "order 9 of user 'bob' not in /data/x/y.json (11111111-4f89-11d3-9a0c-0305e82c3301)"
    )

    assert first == second
    assert 16 == len(first)
    assert first != fingerprint("KeyError", "bug", "Order 17 of user 'ann' not in /srv/a/b.json")
    assert first != fingerprint("KeyError", "not_found", "Invoice 17 of user 'ann' not in /srv/a/b.json")


def test_a_fingerprint_is_the_same_in_every_process():
    """It depends on nothing but its arguments: this one was written down."""
    assert FIXED == fingerprint("TimeoutError", "timeout", "read timed out after 5 s")


FIXED = "5b9e0276cda92b2e"
