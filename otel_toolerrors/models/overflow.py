"""Context overflow: the provider says how many tokens there were, so nothing need be guessed (S1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAX_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Overflow:
    """The token counts in a provider's message; None where it does not say."""

    limit: int | None = None
    """Size of the context window."""
    input_tokens: int | None = None
    max_tokens: int | None = None
    """Output tokens that were asked for."""

    def room(self, floor: int) -> int | None:
        """Output tokens that fit beside this input; None if unknown, or fewer than ``floor``: then fail (S1)."""
        if self.limit is None or self.input_tokens is None:
            return None
        left = self.limit - self.input_tokens
        return left if left >= floor else None


_NUMBER = r"(\d[\d,_]{0,14})"
_FORMS = tuple(
    re.compile(form.replace("LIMIT", f"(?P<limit>{_NUMBER})").replace("INPUT", f"(?P<input_tokens>{_NUMBER})")
               .replace("OUTPUT", f"(?P<max_tokens>{_NUMBER})"), re.IGNORECASE)
    for form in (
        # Anthropic: input and output together, then input alone
        r"exceed context limit: INPUT \+ OUTPUT > LIMIT",
        r"prompt is too long: INPUT tokens > LIMIT maximum",
        # OpenAI and servers that speak its language (vLLM, OpenRouter, DeepSeek, llama.cpp's proxy, ...)
        r"maximum context length is LIMIT tokens.{0,80}?\(INPUT in the messages, OUTPUT in the completion\)",
        r"maximum context length is LIMIT tokens.{0,80}?messages resulted in INPUT tokens",
        r"maximum context length is LIMIT tokens.{0,80}?requested OUTPUT output tokens.{0,60}?INPUT input tokens",
        r"maximum context length is LIMIT tokens.{0,80}?request has INPUT input tokens plus OUTPUT",
        r"maximum context length is LIMIT tokens.{0,80}?request has INPUT input tokens",
        r"maximum context length is LIMIT tokens.{0,80}?requested (?:about )?INPUT tokens",
        r"maximum context length is LIMIT tokens",
        # Google
        r"input token count \(INPUT\) exceeds the maximum number of tokens allowed \(LIMIT\)",
        r"input token count.{0,40}? exceeds the maximum number of tokens allowed \(LIMIT\)",
        # Mistral, llama.cpp, Cohere
        r"prompt contains INPUT tokens.{0,60}?with LIMIT maximum context length",
        r"request \(INPUT tokens\) exceeds the available context size \(LIMIT tokens\)",
        r"total number of tokens .{0,40}?cannot exceed LIMIT - received INPUT",
    )
)  # fmt: skip
"""Known ways to put it, most telling first. Each counts: limit, input and requested output, as far as it says."""

_FIELDS = re.compile(r"\Wn_prompt_tokens\W{1,4}(?P<input_tokens>\d+).{0,60}?\Wn_ctx\W{1,4}(?P<limit>\d+)")
"""llama.cpp's server puts them into fields of the error's body."""


def parse_overflow(text: str) -> Overflow | None:
    """Read the token counts out of a provider's message; None if it holds none."""
    flat = " ".join(text[:_MAX_TEXT].replace("`", "").split())
    for form in (*_FORMS, _FIELDS):
        if found := form.search(flat):
            return Overflow(**{name: _count(value) for name, value in found.groupdict().items()})
    return None


def _count(digits: str) -> int:
    return int(digits.replace(",", "").replace("_", ""))
