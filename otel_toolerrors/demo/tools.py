"""The tools of the demo's agent: an order desk, each tool a real HTTP call."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import httpx

from otel_toolerrors.layer import RecoveryLayer

from .server import REQUEST_ID
from .virtual_time import Wire

TIMEOUT = 5.0
"""Simulated seconds that a tool waits for an answer, as httpx would wait real ones."""


class Http:
    """Asks the server's services."""

    def __init__(self, client: httpx.AsyncClient, url: Callable[[str], str], wire: Wire) -> None:
        self._client = client
        self._url = url
        self._wire = wire
        self._numbers = count()

    async def ask(self, method: str, service: str, path: str, *, key: str | None = None, **more: Any) -> Any:
        """Make one request; raise what httpx raises."""
        number = str(next(self._numbers))
        headers = {REQUEST_ID: number} | ({"Idempotency-Key": key} if key else {})
        self._wire.depart(number)
        try:
            response = await self._client.request(method, self._url(service) + path, headers=headers, **more)
        finally:
            self._wire.land(number)
        response.raise_for_status()
        return response.json()


def register(layer: RecoveryLayer, http: Http) -> None:
    """Register the tools with what they declare about themselves."""
    _register_reads(layer, http)
    _register_writes(layer, http)


def _register_reads(layer: RecoveryLayer, http: Http) -> None:
    @layer.tool(effects="read", service="orders")
    async def search_orders(customer: str) -> Any:
        """List a customer's orders."""
        return await http.ask("GET", "orders", f"/orders?customer={customer}")

    @layer.tool(effects="read", service="orders")
    async def get_order(order: str) -> Any:
        """Read one order."""
        return await http.ask("GET", "orders", f"/orders/{order}")

    @layer.tool(effects="read", service="orders")
    async def get_archived_order(order: str) -> Any:
        """Read one order from the archive."""
        return await http.ask("GET", "orders", f"/archive/{order}")

    @layer.tool(effects="read", service="pricing")
    async def price_quote(sku: str) -> Any:
        """Quote a price."""
        return await http.ask("GET", "pricing", f"/quotes/{sku}")

    @layer.tool(effects="read", service="tracker")
    async def list_issues(topic: str) -> Any:
        """List known issues."""
        return await http.ask("GET", "tracker", f"/issues?topic={topic}")

    @layer.tool(effects="read", service="carrier", optional=True)
    async def shipping_eta(order: str) -> Any:
        """Estimate the arrival of a parcel; nice to have."""
        return await http.ask("GET", "carrier", f"/eta/{order}")

    @layer.tool(effects="read", service="reports")
    async def render_report(template: str, order: str) -> Any:
        """Render a report."""
        return await http.ask("GET", "reports", f"/reports/{template}?order={order}")

    @layer.tool(effects="read", service="billing")
    async def get_invoice(order: str) -> Any:
        """Read the invoice of an order."""
        return await http.ask("GET", "billing", f"/invoices/{order}")


def _register_writes(layer: RecoveryLayer, http: Http) -> None:
    @layer.tool  # declares nothing, so it counts as a write that must not be repeated
    async def create_ticket(reference: str, title: str) -> Any:
        """Open a ticket."""
        return await http.ask("POST", "tickets", "/tickets", json={"reference": reference, "title": title})

    @layer.tool(effects="write", service="billing")
    async def create_invoice(order: str, amount: int, idempotency_key: str) -> Any:
        """Invoice an order. The service takes an idempotency key; the layer fills it in."""
        content = {"order": order, "amount": amount}
        return await http.ask("POST", "billing", "/invoices", key=idempotency_key, json=content)
