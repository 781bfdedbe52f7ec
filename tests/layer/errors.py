"""Errors as HTTP clients raise them: real httpx exceptions around real httpx responses."""

from typing import Any

import httpx


def http_error(status: int, headers: dict[str, str] | None = None, body: Any = None) -> httpx.HTTPStatusError:
    """Make the exception that ``raise_for_status`` raises for such an answer."""
    request = httpx.Request("GET", "http://127.0.0.1/items")
    response = httpx.Response(status, headers=headers, json=body, request=request)
    return httpx.HTTPStatusError(f"{status}", request=request, response=response)
