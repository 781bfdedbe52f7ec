# ruff: noqa: PLC0415 - a library that is not installed is left out
"""The libraries that one would use instead, set to three attempts without a wait."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Literal

Scenario = Literal["happy", "fail, fail, ok", "exhaust"]
Tool = Callable[[], None]
Make = Callable[[Scenario, Tool, type[Exception], Any], Callable[[], object] | None]

OTHERS: dict[str, Make] = {}


def _subject(name: str, module: str) -> Callable[[Make], Make]:
    """List a subject, if its library is there."""

    def register(make: Make) -> Make:
        if find_spec(module):
            OTHERS[name] = make
        return make

    return register


@_subject("stamina", "stamina")
def _stamina(_scenario: Scenario, tool: Tool, error: type[Exception], _tracers: Any) -> Callable[[], object]:
    import stamina

    retry = stamina.retry(on=error, attempts=3, timeout=None, wait_initial=0, wait_jitter=0, wait_max=0)
    return retry(tool)


@_subject("tenacity", "tenacity")
def _tenacity(_scenario: Scenario, tool: Tool, error: type[Exception], _tracers: Any) -> Callable[[], object]:
    import tenacity

    return tenacity.retry(
        retry=tenacity.retry_if_exception_type(error), stop=tenacity.stop_after_attempt(3), wait=tenacity.wait_none(),
        reraise=True,
    )(tool)  # fmt: skip


@_subject("pyresilience", "pyresilience")
def _pyresilience(_scenario: Scenario, tool: Tool, _error: type[Exception], _tracers: Any) -> Callable[[], object]:
    import pyresilience

    retry = pyresilience.RetryConfig(max_attempts=3, delay=0, jitter=False)
    function: Callable[[], object] = pyresilience.resilient(retry=retry)(tool)
    return function


def _redress_policy() -> Any:
    import redress

    return redress.Policy(
        retry=redress.Retry(
            classifier=redress.default_classifier, strategy=lambda _context: 0.0, max_attempts=3, deadline_s=60
        )
    )


@_subject("redress", "redress")
def _redress(_scenario: Scenario, tool: Tool, _error: type[Exception], _tracers: Any) -> Callable[[], object]:
    policy = _redress_policy()
    return lambda: policy.call(tool)


@_subject("redress with its OTel hooks", "redress")
def _redress_traced(_scenario: Scenario, tool: Tool, _error: type[Exception], tracers: Any) -> Callable[[], object]:
    from opentelemetry.metrics import NoOpMeterProvider
    from redress.contrib.otel import otel_hooks

    hooks = otel_hooks(tracer=tracers.get_tracer("redress"), meter=NoOpMeterProvider().get_meter("redress"))
    policy = _redress_policy()
    return lambda: policy.call(tool, operation="search", **hooks)


@_subject("LangChain's ToolRetryMiddleware", "langchain")
def _langchain(_scenario: Scenario, tool: Tool, error: type[Exception], _tracers: Any) -> Callable[[], object]:
    from langchain.agents.middleware import ToolRetryMiddleware
    from langgraph.prebuilt.tool_node import ToolCallRequest

    middleware = ToolRetryMiddleware(max_retries=2, retry_on=(error,), initial_delay=0, jitter=False)
    request = ToolCallRequest(
        tool_call={"name": "search", "args": {}, "id": "1", "type": "tool_call"}, tool=None, state={},
        runtime=None,
    )  # type: ignore[arg-type]  # fmt: skip
    return lambda: middleware.wrap_tool_call(request, lambda _request: tool())  # type: ignore[arg-type,return-value]
