import pytest
from hypothesis import given, strategies as st

from otel_toolerrors.models import Overflow, parse_overflow

FORMS = [
    ("prompt is too long: 208310 tokens > 200000 maximum", Overflow(200_000, 208_310)),
    (
        (
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or "
            "`max_tokens` and try again"
        ),
        Overflow(200_000, 188_240, 21_333),
    ),
    (
        (
            "This model's maximum context length is 128000 tokens. However, you requested 130096 tokens (118000 in the "
            "messages, 12096 in the completion). Please reduce the length of the messages or completion."
        ),
        Overflow(128_000, 118_000, 12_096),
    ),
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens.",
        Overflow(128_000, 130_512),
    ),
    (
        (
            "This model's maximum context length is 40960 tokens. However, you requested 100 output tokens and your "
            "prompt contains at least 40861 input tokens."
        ),
        Overflow(40_960, 40_861, 100),
    ),
    (
        (
            "This model's maximum context length is 2048 tokens. However, your request has 8 input tokens plus 2045 "
            "'max_tokens'. Please reduce one or the other."
        ),
        Overflow(2_048, 8, 2_045),
    ),
    (
        (
            "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens "
            "(2500021 of text input)."
        ),
        Overflow(200_000, 2_500_021),
    ),
    ("This endpoint's maximum context length is 65536 tokens.", Overflow(65_536)),
    (
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
        Overflow(1_048_576, 1_200_293),
    ),
    ("The input token count exceeds the maximum number of tokens allowed (1048576).", Overflow(1_048_576)),
    ('{"error":{"code":400,"message":"x","n_prompt_tokens":9000,"n_ctx":8192}}', Overflow(8_192, 9_000)),
    (
        "the request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        Overflow(8_192, 9_000),
    ),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32,768 maximum context length",
        Overflow(32_768, 40_000),
    ),
    (
        "too many tokens: total number of tokens (prompt and prediction) cannot exceed 4081 - received 4362",
        Overflow(4_081, 4_362),
    ),
    ("Input is too long for requested model.", None),
    ("rate limit: 200000 tokens per minute", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "counts"), FORMS)
def test_counts_are_read_from_the_message(text, counts):
    """The providers' own numbers, and nothing where they give none."""
    assert counts == parse_overflow(text)


@pytest.mark.parametrize(
    ("counts", "room"),
    [
        (Overflow(200_000, 188_240, 21_333), 11_760),
        (Overflow(200_000, 197_000), 3_000),
        (Overflow(200_000, 197_001), None),
        (Overflow(200_000, 208_310), None),
        (Overflow(65_536), None),
    ],
)
def test_room_is_what_the_window_leaves(counts, room):
    """Exactly what is left, and nothing below the floor."""
    assert room == counts.room(3_000)


@given(st.text(max_size=5_000))
def test_no_text_crashes_the_parser(text):
    """A message is anything."""
    parse_overflow(text)
