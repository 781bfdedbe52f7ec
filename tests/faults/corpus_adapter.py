"""Our classifier in the form the scenario evaluation expects: ``(subject, tool_is_write) -> four answers``."""

from __future__ import annotations

from typing import Any

from otel_toolerrors.faults import Fault, classify, classify_result

Answer = tuple[str, bool, str, float | None]


def adapter(exc: BaseException, tool_is_write: bool) -> Answer:  # noqa: FBT001 - the evaluation calls it so
    """Answer for an exception."""
    return _answer(classify(exc, effects="write" if tool_is_write else "read"))


def _result(value: Any, tool_is_write: bool) -> Answer | tuple[str, bool, str, None]:  # noqa: FBT001
    fault = classify_result(value, effects="write" if tool_is_write else "read")
    return _answer(fault) if fault is not None else ("ok", False, "committed", None)


def _answer(fault: Fault) -> Answer:
    return fault.category, fault.retryable, fault.side_effects, fault.retry_after


adapter.classify_result = _result  # type: ignore[attr-defined]
