"""One HTTP request on its way: what may be repeated, what was answered last."""

from __future__ import annotations

from typing import Any, Final

from otel_toolerrors.layer.protect import LastTry
from otel_toolerrors.policy import Declaration
from otel_toolerrors.surface import Outcome
from otel_toolerrors.vocabulary import Effects

_EFFECTS: Final[dict[str, Effects]] = {
    **dict.fromkeys(("GET", "HEAD", "OPTIONS", "QUERY", "TRACE"), "read"),
    **dict.fromkeys(("DELETE", "PUT"), "idempotent"),
}


class Sending:
    """One request, whichever of the two libraries made it."""

    def __init__(self, request: Any, name: str | None) -> None:
        self.request = request
        self.name = name or request.url.host
        self.told = {"method": request.method, "url": str(request.url)}
        """Never leaves the process but as a keyed digest."""
        key = request.headers.get("idempotency-key")
        effects = _EFFECTS.get(request.method, "write")
        self.how: dict[str, Any] = {"key": key, "declared": Declaration(effects=effects, service=self.name)}
        self.last = LastTry()
        self._kept: Any = None

    @property
    def replayable(self) -> bool:
        """Whether the body is at hand; a stream can be sent once."""
        try:
            self.request.content  # noqa: B018 - it raises while the body has not been read
        except RuntimeError:
            return False
        return True

    def failed(self, response: Any) -> bool:
        """Whether the response is an error; the one before is forgotten."""
        self._kept = None
        return bool(response.status_code >= 400)  # noqa: PLR2004 - HTTP's own number

    def check(self, response: Any, body: bytes) -> Any:
        """Raise what the response says, and keep it, unread, for the client."""
        self._kept = self._copy(response, body)
        read = self._copy(response, body)
        read.read()
        return read.raise_for_status()

    def _copy(self, response: Any, body: bytes) -> Any:
        stream = type(self.request.stream)(body)  # the library's own stream of bytes
        parts = {"headers": response.headers, "stream": stream, "extensions": response.extensions}
        return type(response)(response.status_code, request=self.request, **parts)

    def settle(self, outcome: Outcome) -> Any:
        """Give the client what an ordinary transport would have given it last."""
        if not outcome.ok and self._kept is not None:
            return self._kept
        return self.last.settle(outcome)
