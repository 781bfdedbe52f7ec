"""Every behaviour of the layer is tested through both drivers."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from otel_toolerrors.layer import Run
from otel_toolerrors.surface import Outcome

Caller = Callable[..., Outcome]


def _sync(run: Run, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> Outcome:
    return run.call(tool, arguments, **more)


def _async(run: Run, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> Outcome:
    return asyncio.run(run.acall(tool, arguments, **more))


@pytest.fixture(params=[_sync, _async], ids=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Caller:
    """``call(run, tool, arguments)``, through one driver or the other."""
    return request.param
