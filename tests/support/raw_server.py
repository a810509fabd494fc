"""A server that writes raw bytes to a socket: whatever no HTTP library would send.

with RawServer(lambda request: [b"HTTP/1.1 200 OK\\r\\n", ...]) as server: ... server.base_url, server.requests
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import TracebackType
from typing import Any

Replies = Callable[[int], Iterable[bytes]]
"""Pieces of the reply to the nth POST, from 0 on; the connection is closed behind them."""


class RawServer:
    """Threads, one a connection. GETs are answered 404, or with `listed`, and not counted."""

    def __init__(self, replies: Replies, listed: Iterable[bytes] = ()):
        self._replies = replies
        self._listed = list(listed) or reply(b"", "404 Not Found")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.requests: list[bytes] = []
        self.written = 0  # bytes of replies that went out

    def __enter__(self) -> RawServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            head, _, body = _until_blank_line(connection)
            if not head.startswith(b"POST"):
                connection.sendall(b"".join(self._listed))
                return
            while len(body) < _length(head):
                body += connection.recv(65536)
            self.requests.append(body)
            for piece in self._replies(len(self.requests) - 1):
                connection.sendall(piece)
                self.written += len(piece)


def _until_blank_line(connection: socket.socket) -> tuple[bytes, bytes, bytes]:
    read = b""
    while b"\r\n\r\n" not in read:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError
        read += piece
    return read.partition(b"\r\n\r\n")


def _length(head: bytes) -> int:
    line = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return int(line.partition(b":")[2])


def reply(body: bytes, status: str = "200 OK", *headers: str) -> list[bytes]:
    """A whole response. It says that the connection ends, or a client would now and then send once more into one that
    has."""
    head = ["Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close"]
    lines = [f"HTTP/1.1 {status}", *head, *headers, "", ""]
    return ["\r\n".join(lines).encode(), body]


def completion(text: str, **more: Any) -> bytes:
    """A chat completion as a body."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "usage": usage,
             "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
    return json.dumps({**body, **more}).encode()


def endless(megabytes: int, *, chunked: bool = False) -> Iterable[bytes]:
    """So many megabytes of a JSON string."""
    how = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {megabytes * 2**20}"
    yield f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{how}\r\n\r\n".encode()
    piece = b'"' + b"a" * (2**20 - 1)
    for _ in range(megabytes):
        yield b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece


@lru_cache(maxsize=4)  # packing a gigabyte takes seconds
def bomb(megabytes: int, layers: int = 1) -> list[bytes]:
    """A body of a few kilobytes that unpacks to so many megabytes, packed `layers` times."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = b"".join(packer.compress(b" " * 2**20) for _ in range(megabytes)) + packer.flush()
    for _ in range(layers - 1):
        body = gzip.compress(body)
    return reply(body, "200 OK", f"Content-Encoding: {', '.join(['gzip'] * layers)}")
