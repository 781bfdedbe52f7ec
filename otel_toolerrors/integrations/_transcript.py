"""Transcripts in which one message asks for calls, and messages after it answer them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

M = TypeVar("M")


def completed(
    messages: Iterable[M],
    *,
    asked: Callable[[M], Mapping[str, str]],
    answered: Callable[[M], str | None],
    answers: Callable[[Mapping[str, str]], Iterable[M]],
) -> list[M]:
    """Give the messages with an answer to every call, where it belongs.

    Args:
        messages: The transcript.
        asked: Names the tool for the id of every call that a message asks for.
        answered: The id of the call that a message answers; None if it is no answer.
        answers: Writes the messages for calls that were not answered.
    """
    whole: list[M] = []
    owed: dict[str, str] = {}
    for message in messages:
        call_id = answered(message)
        if call_id is None:
            whole += answers(owed)
            owed = dict(asked(message))
        else:
            owed.pop(call_id, None)
        whole.append(message)
    return [*whole, *answers(owed)]
