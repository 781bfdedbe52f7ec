"""Texts that hold secrets: a detector's recorded examples, and look-alikes in the formats that vendors document.

None of the look-alikes was ever issued: each is made of its documented prefix and length, and pseudo-random characters.
"""

from __future__ import annotations

import base64
import json
import string
from pathlib import Path
from random import Random
from typing import NamedTuple

_RECORDED = Path(__file__).parents[1] / "faults" / "secrets.json"


class Sample(NamedTuple):
    """A text as an error may quote it, and the part of it that must not get out."""

    text: str
    secret: str


def recorded() -> list[Sample]:
    """A detector's own examples, one a rule; the file names their origin and licence."""
    rows = json.loads(_RECORDED.read_text("utf-8"))["samples"]
    return [Sample(*(base64.b64decode(row[part]).decode() for part in ("text", "secret"))) for row in rows]


_ALNUM = string.ascii_letters + string.digits
_FORMATS = {
    "AWS access key": ("AKIA", string.ascii_uppercase + "234567", 16),
    "GitHub token": ("ghp_", _ALNUM, 36),
    "GitHub fine-grained token": ("github_pat_", _ALNUM, 82),
    "GitLab token": ("glpat-", _ALNUM, 20),
    "Slack bot token": ("xoxb-", _ALNUM, 48),
    "Stripe live key": ("sk_live_", _ALNUM, 24),
    "OpenAI project key": ("sk-proj-", _ALNUM, 64),
    "Anthropic key": ("sk-ant-api03-", _ALNUM, 93),
    "Google API key": ("AIza", _ALNUM, 35),
    "npm token": ("npm_", _ALNUM, 36),
    "PyPI token": ("pypi-AgEIcHlwaS5vcmc", _ALNUM, 60),
    "SendGrid key": ("SG.", _ALNUM, 22),
    "Hugging Face token": ("hf_", string.ascii_letters, 34),
    "Databricks token": ("dapi", "0123456789abcdef", 32),
}
_PLACES = (
    "Incorrect API key provided: {}. You can find your key in the dashboard.",
    "401 Unauthorized for url: https://api.example.org/v1/items?limit=5&api_key={}",
    "request failed: headers={{'Authorization': 'Bearer {}', 'Accept': '*/*'}}",
    "could not connect to postgresql://app:{}@db.internal:5432/prod",
    '{{"error": "denied", "client_secret": "{}"}}',
    "environment: PATH=/usr/bin SERVICE_TOKEN={} HOME=/home/app",
    "{}",
)


def look_alikes() -> list[Sample]:
    """Every format in two of the places where errors quote secrets, and every place with several of the formats."""
    random = Random(8)
    secrets = [
        prefix + "".join(random.choice(letters) for _ in range(length)) for prefix, letters, length in _FORMATS.values()
    ]
    return [
        Sample(_PLACES[(number + shift) % len(_PLACES)].format(secret), secret)
        for number, secret in enumerate(secrets)
        for shift in (0, 3)
    ]


SAMPLES = recorded() + look_alikes()
