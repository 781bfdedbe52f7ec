"""What the classifier makes of errors that it did not meet, from what another instrumentation recorded of them.

A name and a text prove less than a live exception does: whatever rests on this says so.
"""

from __future__ import annotations

from otel_toolerrors.faults import Fault
from otel_toolerrors.faults.parse import fault_from_body, fault_from_traceback


def inferred(exception_type: str | None, code: str | None, message: str | None) -> Fault | None:
    """Classify an error by its type, its ``error.type`` (which may be an HTTP status) and its message.

    None if nothing of that was recorded. The tool counts as a read: what it does is not known.
    """
    said = message or ""
    if exception_type is not None:
        try:
            return fault_from_traceback(f"{exception_type}: {said}")
        except ValueError:  # a name that is no exception's
            pass
    status = int(code) if code is not None and code.isdecimal() and 100 <= int(code) <= 599 else None  # noqa: PLR2004
    return fault_from_body(said, status=status) if said or status is not None else None
