"""Servers on the loopback interface that fail on demand."""

from __future__ import annotations

import contextlib
import http
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

HOST = "127.0.0.1"
Talk = Callable[[socket.socket], None]


@contextlib.contextmanager
def listening(talk: Talk) -> Iterator[int]:
    """Hand every connection to ``talk`` in a thread of its own; yields the port."""
    listener = socket.create_server((HOST, 0))
    open_sockets: list[socket.socket] = [listener]

    def handle(conn: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), conn:
            talk(conn)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                conn, _ = listener.accept()
                open_sockets.append(conn)
                threading.Thread(target=handle, args=(conn,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        for each in open_sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextlib.contextmanager
def answering(status: int, body: Any = "", headers: Mapping[str, str] | None = None) -> Iterator[str]:
    """An HTTP server that gives every request the same answer; yields its URL."""
    kind = "text/plain"
    if isinstance(body, (dict, list)):
        body, kind = json.dumps(body), "application/json"
    payload = body.encode() if isinstance(body, str) else body
    phrase = http.HTTPStatus(status).phrase if status in {s.value for s in http.HTTPStatus} else "Status"
    fields = {"Content-Type": kind, "Content-Length": str(len(payload)), "Connection": "close", **(headers or {})}
    head = f"HTTP/1.1 {status} {phrase}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items()) + "\r\n"

    def talk(conn: socket.socket) -> None:
        if (method := read_request(conn)) is not None:
            conn.sendall(head.encode() + (b"" if method == "HEAD" else payload))

    with listening(talk) as port:
        yield f"http://{HOST}:{port}"


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """A server that reads and never answers."""

    def talk(conn: socket.socket) -> None:
        while conn.recv(65536):
            pass

    with listening(talk) as port:
        yield f"http://{HOST}:{port}"


@contextlib.contextmanager
def hanging_up() -> Iterator[str]:
    """A server that reads a request and closes the connection without an answer."""
    with listening(read_request) as port:
        yield f"http://{HOST}:{port}"


@contextlib.contextmanager
def line_server(greeting: str, replies: Mapping[str, str], default: str) -> Iterator[int]:
    """A line protocol (SMTP, FTP, POP): a greeting, then the reply whose key begins the command."""

    def talk(conn: socket.socket) -> None:
        conn.sendall(f"{greeting}\r\n".encode())
        for raw in conn.makefile("rb"):
            line = raw.decode("latin-1").strip()
            answer = next(
                (text for verb, text in {"QUIT": "221 bye", **replies}.items() if line.upper().startswith(verb)),
                default,
            )
            conn.sendall(f"{answer}\r\n".encode())
            if answer.startswith("221"):
                return

    with listening(talk) as port:
        yield port


def read_request(conn: socket.socket) -> str | None:
    """Read one HTTP request to its end; its method."""
    stream = conn.makefile("rb")
    first = stream.readline()
    if not first.strip():
        return None
    length, chunked = 0, False
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "content-length":
            length = int(value)
        chunked = chunked or (name.lower() == "transfer-encoding" and "chunked" in value)
    if chunked:
        while size := int(stream.readline() or b"0", 16):
            stream.read(size + 2)
        stream.readline()
    elif length:
        stream.read(length)
    return first.split()[0].decode("latin-1")


def closed_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


def closed_url() -> str:
    """A URL that nobody serves."""
    return f"http://{HOST}:{closed_port()}"
