"""What a server says in headers: how long to wait, whether to retry at all."""

from __future__ import annotations

import datetime as dt
import email.utils
import math
import re
import time
from typing import Final

from otel_toolerrors.faults.evidence import HEADER_NAMES, Evidence
from otel_toolerrors.faults.reading import attribute, call, items, lowered, whole_number

from . import retry_info

wall_clock: Final = time.time  # noqa: TID251 - HTTP dates count from it; every caller may give its own

LONGEST: Final = 366 * 86_400.0
"""Seconds; a longer wait is taken for nonsense."""

_INTERESTING: Final = frozenset({
    "retry-after", "retry-after-ms", "x-retry-after", "x-ms-retry-after-ms",
    "retry-pushback-ms", "grpc-retry-pushback-ms",
    "x-should-retry", "stripe-should-retry",
    "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-reset-after",
    "ratelimit-remaining", "ratelimit-reset", "x-rate-limit-remaining", "x-rate-limit-reset",
})  # fmt: skip
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def headers_of(evidence: Evidence) -> dict[str, str]:
    """The headers that may tell something, in lower case."""
    found: dict[str, str] = {}
    holders: list[object] = []
    holders += [value for name in HEADER_NAMES if (value := evidence.attrs.get(name)) is not None]
    for response in evidence.responses():
        if isinstance(response, dict):
            metadata = response.get("ResponseMetadata")
            holders.append(metadata.get("HTTPHeaders") if isinstance(metadata, dict) else response.get("headers"))
        else:
            holders.extend(attribute(response, name) for name in ("headers", "header"))
    if (
        trailing := attribute(evidence.exc, "trailing_metadata") if "details" in evidence.profile.readable else None
    ) is not None:
        holders.append(call(trailing) if callable(trailing) else trailing)
    for holder in holders:
        if holder is not None:
            collect(holder, found)
    return found


def collect(holder: object, found: dict[str, str]) -> None:
    """Add the interesting headers of one mapping or sequence of pairs."""
    for key, value in items(holder):
        name = lowered(key)
        if name == retry_info.TRAILER and type(value) is bytes:
            wait = retry_info.delay(value)
            if wait is not None:
                found.setdefault("retry-after", str(wait))
        elif name in _INTERESTING:
            first = value[0] if isinstance(value, (list, tuple)) and value else value
            said = lowered(first)
            if said is not None:
                found.setdefault(name, said.strip())


def should_retry(headers: dict[str, str]) -> bool | None:
    """The server's own word on repeating the request."""
    said = headers.get("x-should-retry") or headers.get("stripe-should-retry")
    return {"true": True, "false": False}.get(said) if said else None


def limit_reached(headers: dict[str, str]) -> bool:
    """Whether the rate limit's counter stands at zero."""
    return any(
        headers.get(name) == "0" for name in ("x-ratelimit-remaining", "ratelimit-remaining", "x-rate-limit-remaining")
    )


def retry_after(headers: dict[str, str], now: float) -> float | None:
    """Seconds to wait, by the most exact header there is."""
    for name in ("retry-after-ms", "x-ms-retry-after-ms", "retry-pushback-ms", "grpc-retry-pushback-ms"):
        if (milliseconds := seconds(headers.get(name))) is not None:
            return milliseconds / 1000
    for name in ("retry-after", "x-retry-after"):
        if name in headers:
            wait = seconds(headers[name])
            return _until(headers[name], now) if wait is None else wait
    return None


def reset_after(headers: dict[str, str], now: float) -> float | None:
    """Seconds until the rate limit's window ends, from its reset header."""
    if (after := seconds(headers.get("x-ratelimit-reset-after"))) is not None:
        return after
    for name in ("x-ratelimit-reset", "ratelimit-reset", "x-rate-limit-reset"):
        value = _number(headers.get(name))
        if value is None:
            continue
        for scale in (1.0, 1_000.0):  # epoch seconds, epoch milliseconds, or a difference
            if abs(value / scale - now) < LONGEST:
                return max(0.0, value / scale - now)
        return seconds(value)
    return None


def seconds(value: object) -> float | None:
    """A wait that can be waited: finite, not negative, not absurd. Takes numbers, ``"1.5"``, ``"6m0s"``, timedeltas."""
    if isinstance(value, dt.timedelta):
        value = value.total_seconds()
    number = _number(value)
    if number is None and isinstance(value, str) and _DURATION.sub("", value) == "" and value:
        number = sum(float(amount) * _UNITS[unit] for amount, unit in _DURATION.findall(value))
    return number if number is not None and math.isfinite(number) and 0 <= number <= LONGEST else None


def _number(value: object) -> float | None:
    if type(value) is float:
        return value
    if (whole := whole_number(value)) is not None:
        return float(whole) if abs(whole) < 10**15 else None
    if not isinstance(value, str) or len(value) > 30:
        return None
    try:
        return float(value) if not value.strip().isalpha() else None
    except ValueError:
        return None


def _until(value: str, now: float) -> float | None:
    try:
        moment = email.utils.parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        wait = moment.timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return max(0.0, wait) if wait <= LONGEST else None
