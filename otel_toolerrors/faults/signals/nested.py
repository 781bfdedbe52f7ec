"""The exceptions inside an exception: causes, contexts, members, what a wrapper holds."""

from __future__ import annotations

from otel_toolerrors.faults.evidence import NESTED, NESTED_NAMES, Evidence
from otel_toolerrors.faults.reading import attribute, call, is_exception


def members(exc: BaseException) -> tuple[BaseException, ...]:
    """The members of an exception group, at most a thousand."""
    if not issubclass(type(exc), BaseExceptionGroup):
        return ()
    found = attribute(exc, "exceptions")
    return found[:1_000] if type(found) is tuple else ()


def causes(evidence: Evidence) -> list[BaseException]:
    """What the exception says it comes from: its cause, what it holds, its arguments."""
    exc = evidence.exc
    found: list[BaseException] = []
    if (cause := attribute(exc, "__cause__")) is not None:
        _add(cause, found)
    attrs = evidence.attrs if evidence.has(NESTED) else {}
    if (attempt := attrs.get("last_attempt")) is not None:  # tenacity and its kin hold a future
        getter = attribute(attempt, "exception")
        _add(call(getter) if callable(getter) else getter, found)
    for name in NESTED_NAMES if attrs else ():
        if (value := attrs.get(name)) is not None:
            _add_all(value, found)
    for argument in evidence.args[:4]:
        if type(argument) is not str:
            _add_all(argument, found)
    return found


def context(exc: BaseException) -> BaseException | None:
    """What was being handled when the exception was raised, unless that was hidden on purpose."""
    if attribute(exc, "__suppress_context__"):
        return None
    found = attribute(exc, "__context__")
    return found if found is not None and is_exception(found) else None


def _add(value: object, found: list[BaseException]) -> None:
    if value is not None and is_exception(value):
        found.append(value)  # type: ignore[arg-type]


def _add_all(value: object, found: list[BaseException]) -> None:
    if type(value) in (list, tuple):
        for entry in value[:8]:  # type: ignore[index]
            _add(entry, found)
    else:
        _add(value, found)
