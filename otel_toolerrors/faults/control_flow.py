"""Exceptions that are no errors: cancellation, interrupts, a framework's signals.

They pass through every layer untouched.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import weakref

from .reading import attribute

CONTROL_FLOW: dict[str, str] = {
    "concurrent.futures._base.CancelledError": "a future that was cancelled (an Exception by type)",
    "langgraph.GraphBubbleUp": "interrupts, commands to the parent graph, handover",
    "mcp.UrlElicitationRequiredError": "somebody must visit a page first",
    "pydantic_ai.ModelRetry": "the tool asks the model to try again",
    "pydantic_ai.ToolFailed": "the tool reports a failure to the model",
    "pydantic_ai.CallDeferred": "the call is carried out elsewhere",
    "pydantic_ai.ApprovalRequired": "the call waits for a person",
    "pydantic_ai.SkipToolExecution": "a hook answers in place of the tool",
    "pydantic_ai.ToolRetryError": "a retry prompt on its way to the model",
    "pydantic_ai.AgentRunError": "the agent's run has ended",
    "agent_framework.MiddlewareTermination": "a middleware ends the run",
    "agent_framework.MiddlewareFailure": "a middleware aborts the run",
    "agent_framework.UserInputRequiredException": "the tool waits for its user",
    "agent_framework._FunctionArgumentsChangedAfterApproval": "the call has to be approved again",
    "prefect.Pause": "the run waits",
    "celery.Ignore": "the task's state is left alone",
    "celery.Retry": "the task has been scheduled again",
    "celery.Reject": "the message goes back to the broker",
    "trio.Cancelled": "trio's cancellation",
}
"""``package.ClassName`` of a class or base: why it passes through. Matched by the name of
the class and the first part of its module, so that nothing needs to be imported."""

_NAMES = frozenset((name.split(".")[0], name.rpartition(".")[2]) for name in CONTROL_FLOW)
_ANYWHERE = frozenset({"CancelledError", "FutureCancelledError"})
_GROUP_LIMIT = 1_000

_known: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def is_control_flow(exc: BaseException) -> bool:
    """Whether the exception must be re-raised untouched and is never an error of the tool."""
    kind = type(exc)
    known = _known.get(kind)
    if known is None:
        known = _is_control_flow_type(kind)
        _known[kind] = known
    return known or (issubclass(kind, BaseExceptionGroup) and _group_carries_one(exc))


def _is_control_flow_type(kind: type) -> bool:
    if issubclass(kind, BaseExceptionGroup):
        return False  # its members decide
    if not issubclass(kind, Exception) or issubclass(kind, (asyncio.CancelledError, concurrent.futures.CancelledError)):
        return True
    return any(
        (str(base.__module__).split(".")[0], base.__name__) in _NAMES or base.__name__ in _ANYWHERE
        for base in kind.__mro__
    )


def _group_carries_one(group: BaseException) -> bool:
    waiting, seen = [group], 0
    while waiting and seen < _GROUP_LIMIT:
        members = attribute(waiting.pop(), "exceptions")
        for member in members if type(members) is tuple else ():
            seen += 1
            if issubclass(type(member), BaseExceptionGroup):
                waiting.append(member)
            elif _is_control_flow_type(type(member)):
                return True
    return False
