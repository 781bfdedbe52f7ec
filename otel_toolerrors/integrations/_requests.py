"""Model requests of an SDK's client, recovered whichever method of the client sends them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from otel_toolerrors.layer import Run
from otel_toolerrors.layer.model import Model

from ._asked import once

C = TypeVar("C")

_OUTPUT_LIMITS: Final[dict[str, tuple[str, ...]]] = {
    "/messages": ("max_tokens",),
    "/chat/completions": ("max_completion_tokens", "max_tokens"),
    "/responses": ("max_output_tokens",),
}
"""Where model requests go, and which fields may bound their output there, the preferred one first."""


def recovering(client: C, run: Run, *others: str, name: str = "model") -> C:
    """Give a copy of the SDK's client whose model requests recover, for one run.

    A request is sent again after what passes by itself, with fewer output tokens after a context overflow, and to
    the ``others`` after repeated overloads of its own model. The SDK's retries are off for it, so that they do not
    multiply with ours; other requests, such as uploads, keep them. A stream is recovered until it begins, and not
    after. With an observing policy it is the client itself that is given.

    Args:
        client: Sync or async. A copy made of the copy, with ``with_options``, does not recover.
        run: Decides. A run that has stopped sends nothing, and `ModelUnavailable` is raised.
        others: Names of models that may stand in for a request's own, in order.
        name: Stands for the model's service in policy and traces, as for `Run.model`.
    """
    if run.observes:
        return client
    copy: Any = client.with_options()  # type: ignore[attr-defined]
    requests = _Requests(run, client, once(client), others, name)
    # Every method of the SDK comes down to this one: create, parse, stream, the runner.
    copy.post = requests.apost if inspect.iscoroutinefunction(copy.post) else requests.post
    return copy  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _Requests:
    """Stands in for a client's ``post``."""

    run: Run
    client: Any
    bare: Any
    """The client without its own retries."""
    others: tuple[str, ...]
    name: str

    def post(self, path: str, *, body: Any = None, **how: Any) -> Any:
        request = _request(path, body)
        if request is None:
            return self.client.post(path, body=body, **how)
        return self._model(request, path, how).call(max_tokens=request.max_tokens)

    async def apost(self, path: str, *, body: Any = None, **how: Any) -> Any:
        request = _request(path, body)
        if request is None:
            return await self.client.post(path, body=body, **how)
        return await self._model(request, path, how).acall(max_tokens=request.max_tokens)

    def _model(self, request: _Request, path: str, how: Mapping[str, Any]) -> Model[Any]:
        def send(**fitted: Any) -> Any:
            return self.bare.post(path, body=request.fitted(**fitted), **how)

        return self.run.model(send, *request.models(self.others), name=self.name)


def _request(path: str, body: Any) -> _Request | None:
    """Recognise a model request by where it goes."""
    where = path.partition("?")[0]
    limits = next((limits for end, limits in _OUTPUT_LIMITS.items() if where.endswith(end)), None)
    if limits is None or not isinstance(body, Mapping) or not isinstance(body.get("model"), str):
        return None
    given = (limit for limit in limits if isinstance(body.get(limit), int))  # the SDKs mark what is left out
    return _Request(body, next(given, limits[0]))


@dataclass(frozen=True, slots=True)
class _Request:
    body: Mapping[str, Any]
    limit: str
    """Name of the field that bounds the output."""

    @property
    def max_tokens(self) -> int | None:
        tokens = self.body.get(self.limit)
        return tokens if isinstance(tokens, int) else None

    def models(self, others: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.body["model"], *others)))

    def fitted(self, *, model: str, max_tokens: int | None = None) -> dict[str, Any]:
        """The same request for another model, or for fewer tokens; thinking is part of the output."""
        changed: dict[str, Any] = {**self.body, "model": model}
        if max_tokens is None:
            return changed
        changed[self.limit] = max_tokens
        thinking = self.body.get("thinking")
        if isinstance(thinking, Mapping) and thinking.get("budget_tokens", 0) >= max_tokens:
            changed["thinking"] = {**thinking, "budget_tokens": max_tokens // 2}
        return changed
