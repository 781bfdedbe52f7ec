"""Transports for ``httpx`` and ``httpx2``, and so for every SDK that takes an ``http_client``.

They wrap a transport of either library, and import neither::

    client = httpx.Client(transport=RecoveryTransport(layer, httpx.HTTPTransport()))
    sdk = anthropic.Anthropic(http_client=..., max_retries=0)  # or its retries multiply with ours

A request is repeated if its method is idempotent (RFC 9110, 9.2.2) or it has an ``Idempotency-Key`` header; any other
only if it certainly did nothing. What comes out in the end is what an ordinary transport gives: the last response,
or the last exception. Only when the service's breaker is open there is neither, and `RecoveryExhausted` is raised.
"""

from __future__ import annotations

from contextlib import aclosing, closing
from types import TracebackType
from typing import Any, Self

from otel_toolerrors.layer import RecoveryLayer
from otel_toolerrors.layer.protect import is_repeated

from ._sending import Sending


class RecoveryTransport:
    """A sync transport with recovery.

    Args:
        layer: Decides.
        transport: Carries the requests.
        name: What the policy and traces call the requests; the host if None.
        source: Who waits for the result, as for `RecoveryLayer.run`.
    """

    def __init__(
        self, layer: RecoveryLayer, transport: Any, *, name: str | None = None, source: str = "main_agent"
    ) -> None:
        self._layer = layer
        self._transport = transport
        self._name = name
        self._source = source

    def handle_request(self, request: Any) -> Any:
        """Send one request, as often as it takes."""
        if is_repeated():
            return self._transport.handle_request(request)
        sending = Sending(request, self._name)
        run = self._layer.alone(source=self._source)
        if not sending.replayable:
            with run.watch(sending.name) as seen:
                return seen.returned(self._transport.handle_request(request))

        def send(**_: Any) -> Any:
            response = sending.last.call(self._transport.handle_request, request)
            if not sending.failed(response):
                return response
            with closing(response):
                body = b"".join(response.stream)
            return sending.check(response, body)

        return sending.settle(run.call(sending.name, sending.told, function=send, **sending.how))

    def close(self) -> None:
        """Close the wrapped transport."""
        self._transport.close()

    def __enter__(self) -> Self:
        self._transport.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._transport.__exit__(kind, error, traceback)


class AsyncRecoveryTransport(RecoveryTransport):
    """An async transport with recovery."""

    async def handle_async_request(self, request: Any) -> Any:
        """Send one request, as often as it takes."""
        if is_repeated():
            return await self._transport.handle_async_request(request)
        sending = Sending(request, self._name)
        run = self._layer.alone(source=self._source)
        if not sending.replayable:
            with run.watch(sending.name) as seen:
                return seen.returned(await self._transport.handle_async_request(request))

        async def send(**_: Any) -> Any:
            response = await sending.last.acall(self._transport.handle_async_request, request)
            if not sending.failed(response):
                return response
            async with aclosing(response):
                body = b"".join([part async for part in response.stream])
            return sending.check(response, body)

        return sending.settle(await run.acall(sending.name, sending.told, function=send, **sending.how))

    async def aclose(self) -> None:
        """Close the wrapped transport."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._transport.__aexit__(kind, error, traceback)
