"""Where ClickHouse runs: a server over HTTP, or chdb, the same engine inside this process."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import SplitResult, unquote, urlsplit

from otel_toolerrors.analysis.sources import TraceSourceError

if TYPE_CHECKING:
    import httpx

_OK = 200
_CONNECT, _ANSWER = 10.0, 900.0
"""Seconds to reach the server, and to wait for an answer."""
_IDLE = 3600
"""Seconds after which the server forgets a session that asks nothing."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n"})


class Engine(Protocol):
    """A session of ClickHouse: settings and temporary tables hold until it is closed."""

    place: str
    """What to call it in an error."""

    def ask(self, query: str, params: Mapping[str, Any], form: str) -> bytes:
        """Run a query, and return its answer in one of ClickHouse's formats.

        Raises:
            TraceSourceError: the server cannot be reached or refuses.
        """

    def close(self) -> None:
        """End the session."""


def connect(url: SplitResult) -> Engine:
    """Begin a session."""
    return InProcess(url) if url.scheme == "chdb" else Server(url)


class Server:
    """A server, asked over HTTP."""

    def __init__(self, url: SplitResult) -> None:
        try:
            import httpx  # noqa: PLC0415 - it comes with the extra
        except ImportError as error:
            raise ImportError("ClickHouse needs httpx: pip install 'otel-toolerrors[clickhouse]'") from error
        secure = url.scheme.endswith("https")
        self.place = f"{url.scheme}://{url.hostname}{f':{url.port}' if url.port else ''}"
        self._session = {
            "database": url.path.strip("/") or "default",
            "session_id": str(uuid.uuid4()),
            "session_timeout": str(_IDLE),
            "wait_end_of_query": "1",  # an error half way is then an error, and not a short answer
        }
        user, password = url.username or os.environ.get("CLICKHOUSE_USER", "default"), url.password
        self._client: httpx.Client = httpx.Client(
            base_url=f"http{'s' * secure}://{url.hostname}:{url.port or (8443 if secure else 8123)}",
            headers={
                "X-ClickHouse-User": unquote(user),
                "X-ClickHouse-Key": unquote(password or os.environ.get("CLICKHOUSE_PASSWORD", "")),
            },
            timeout=httpx.Timeout(_CONNECT, read=_ANSWER),
            trust_env=False,
        )

    def ask(self, query: str, params: Mapping[str, Any], form: str) -> bytes:
        """Run a query within the session."""
        import httpx  # noqa: PLC0415 - as above

        bound = {f"param_{name}": str(value).translate(_ESCAPES) for name, value in params.items()}
        try:
            answer = self._client.post(
                "/", params={**self._session, "default_format": form, **bound}, content=query.encode()
            )
        except httpx.HTTPError as error:
            raise TraceSourceError(
                f"{self.place}: no answer ({error!r}). Check the address, and that it is the port for HTTP."
            ) from error
        if answer.status_code != _OK:
            raise TraceSourceError(f"{self.place}: refused: {answer.text.strip()}")
        return answer.content

    def close(self) -> None:
        """Hang up. The server drops the session's tables when it has been idle for an hour."""
        self._client.close()


class InProcess:
    """chdb over a folder of its own."""

    def __init__(self, url: SplitResult) -> None:
        try:
            from chdb.session import Session  # noqa: PLC0415 - it comes on its own
        except ImportError as error:
            raise ImportError("chdb:// needs the engine: pip install chdb") from error
        folder = Path(unquote(url.path))
        if not folder.is_dir():
            raise TraceSourceError(f"{folder}: no such folder. chdb:// wants the folder of a chdb session.")
        self.place = f"chdb://{folder}"
        self._session: Any = Session(str(folder))  # type: ignore[no-untyped-call]

    def ask(self, query: str, params: Mapping[str, Any], form: str) -> bytes:
        """Run a query."""
        try:
            return bytes(self._session.query(query, form, params=dict(params)).bytes())
        except RuntimeError as error:
            raise TraceSourceError(f"{self.place}: refused: {error}") from error

    def close(self) -> None:
        """Close it."""
        self._session.close()


def moment(text: str, name: str) -> datetime:
    """Read a time of an address.

    Raises:
        TraceSourceError: it is none, or has no time zone.
    """
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError as error:
        raise TraceSourceError(f"{name}={text}: not a time; write 2026-11-21T08:00:00Z") from error
    if found.tzinfo is None:
        raise TraceSourceError(f"{name}={text}: has no time zone; write {text}Z for UTC")
    return found


def split(address: str) -> SplitResult:
    """Take an address apart.

    Raises:
        TraceSourceError: it names no host.
    """
    url = urlsplit(address)
    if url.scheme != "chdb" and not url.hostname:
        raise TraceSourceError(f"{address}: names no host; write clickhouse://user@host:8123/database")
    return url
