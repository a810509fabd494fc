"""Both kinds of Zep server over real HTTP, as facts/simulations.md has their endpoints: the graph of Zep Cloud, and the
users and sessions of zep-python's server.

    with ZepServer(nodes=[…], edges=[…]) as server: … server.url, server.episodes, server.requests
    server.next("POST /graph", 429, 500)      the next requests of that kind get these; 0: answered; "slow": not in
    time;
                                              "echo": 500 with the key; "endless": a body of MANY megabytes, "bomb": a
                                              small one that unpacks to as many, "twice": one packed twice
    server.lost = True                        the next episode is kept, but its answer never comes
"""

from __future__ import annotations

import gzip
import json
import threading
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlparse

KEY = "zep-contract-key"
AT = "2026-05-01T10:00:00Z"
MANY = 32
Said = tuple[int, Any]


class ZepServer:
    """Runs in a thread of its own. `page`: the most that a listing gives."""

    def __init__(self, *, nodes: Sequence[Mapping[str, Any]] = (), edges: Sequence[Mapping[str, Any]] = ()):
        self.lists = {"node": list(nodes), "edge": list(edges)}
        self.graphs = {"g1"}
        self.episodes: list[dict[str, Any]] = []
        self.users: set[str] = set()
        self.sessions: dict[str, str] = {}  # session → user
        self.messages: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.knows: dict[str, dict[str, Any]] = {}  # session → {summary, relevant_facts}
        self.requests: list[str] = []
        self.retry_after = "60"
        self.lost = False
        self.written = 0
        self._next: dict[str, deque[int | str]] = defaultdict(deque)
        self._closing = threading.Event()

    def next(self, kind: str, *answers: int | str) -> None:
        self._next[kind].extend(answers)

    def __enter__(self) -> ZepServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.handle(self, "GET")

            def do_POST(self) -> None:
                server.handle(self, "POST")

            def log_message(self, *_: object) -> None: ...

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def handle(self, request: BaseHTTPRequestHandler, method: str) -> None:
        body = json.loads(request.rfile.read(int(request.headers.get("content-length") or 0)) or b"{}")
        parsed = urlparse(request.path)
        path = parsed.path.removeprefix("/api/v2").strip("/").split("/")
        of_graph = path[:2] in (["graph", "node"], ["graph", "edge"])
        kind = f"{method} /{'/'.join(path[:2]) if of_graph else path[0]}"
        self.requests.append(f"{method} /{'/'.join(path)}")
        fault = self._next[kind].popleft() if self._next[kind] else None
        if request.headers.get("authorization") != f"Api-Key {KEY}":
            return self.reply(request, 401, {"message": "unauthorized"})
        if fault == "slow":
            self._closing.wait(30)
            return request.connection.close()
        if fault == "echo":
            return self.reply(request, 500, {"message": request.headers["authorization"]})
        if fault in ("endless", "bomb", "twice"):
            return self.flood(request, str(fault))
        if fault == 429:
            return self.reply(request, 429, "Rate limit exceeded for FREE plan")
        if fault:
            return self.reply(request, int(fault), {"message": f"as told: {fault}"})
        status, answer = self.answer(method, path, body, parse_qs(parsed.query))
        if self.lost and method == "POST" and status < 300 and (path == ["graph"] or path[-1] == "memory"):
            self.lost = False
            self._closing.wait(30)
            return request.connection.close()
        return self.reply(request, status, answer)

    def reply(self, request: BaseHTTPRequestHandler, status: int, answer: Any) -> None:
        plain = isinstance(answer, str)
        data = (answer if plain else json.dumps(answer)).encode()
        request.send_response(status)
        request.send_header("content-type", "text/plain" if plain else "application/json")
        request.send_header("content-length", str(len(data)))
        if status == 429:
            request.send_header("retry-after", self.retry_after)
        request.end_headers()
        request.wfile.write(data)

    def flood(self, request: BaseHTTPRequestHandler, fault: str) -> None:
        """A body larger than any answer is. `written`: bytes of it that went out."""
        packed = (
            gzip.compress(b'"' + b"a" * (MANY * 2**20), 1) if fault == "bomb" else gzip.compress(gzip.compress(b"[]"))
        )
        pieces = [b"a" * 2**20] * MANY if fault == "endless" else [packed]
        request.send_response(200)
        if fault != "endless":
            request.send_header("content-encoding", "gzip" if fault == "bomb" else "gzip, gzip")
        request.send_header("content-length", str(sum(map(len, pieces))))
        request.end_headers()
        self.written = 0
        with suppress(OSError):
            for piece in pieces:
                request.wfile.write(piece)
                self.written += len(piece)
        request.close_connection = True

    def answer(self, method: str, path: list[str], body: dict[str, Any], query: dict[str, list[str]]) -> Said:
        match (method, *path):
            case ("POST", "graph"):
                return self.add_episode(body)
            case ("POST", "graph", ("node" | "edge") as kind, "graph", graph):
                return self.listed(kind, graph, body)
            case ("GET", "graph", "episodes", "graph", graph):
                kept = [episode for episode in self.episodes if episode["graph_id"] == graph]
                return 200, {"episodes": kept[-int(query.get("lastn", ["10"])[0]) :]}
            case ("POST", "users"):
                fresh = body["user_id"] not in self.users
                self.users.add(body["user_id"])
                return (201, {"user_id": body["user_id"]}) if fresh else (400, {"message": "user already exists"})
            case ("POST", "sessions"):
                if body["session_id"] in self.sessions or body["user_id"] not in self.users:
                    return 400, {"message": "session already exists, or no such user"}
                self.sessions[body["session_id"]] = body["user_id"]
                return 201, {"session_id": body["session_id"], "user_id": body["user_id"]}
            case (_, "sessions", session, "memory"):
                return self.memory(method, session, body, int(query.get("lastn", ["6"])[0]))
        return 404, {"message": "no such path"}

    def add_episode(self, body: dict[str, Any]) -> Said:
        if body.get("graph_id") not in self.graphs or body.get("type") != "text":
            return 404, {"message": "graph not found"}
        episode = {"uuid": f"ep{len(self.episodes)}", "content": body["data"], "created_at": AT, **body}
        self.episodes.append(episode)
        return 202, episode

    def listed(self, kind: str, graph: str, body: dict[str, Any]) -> Said:
        if graph not in self.graphs:
            return 404, {"message": "graph not found"}
        every = self.lists[kind]
        if every is None:
            return 200, None
        start = next((i + 1 for i, episode in enumerate(every) if episode["uuid"] == body.get("uuid_cursor")), 0)
        return 200, every[start : start + body["limit"]]

    def memory(self, method: str, session: str, body: dict[str, Any], last: int) -> Said:
        if session not in self.sessions and session not in self.knows:
            return 404, {"message": f"session {session} not found"}
        if method == "POST":
            self.messages[session] += body["messages"]
            return 200, {"message": "OK"}
        return 200, {"messages": self.messages[session][-last:], **self.knows.get(session, {})}


def node(uuid: str, name: str, summary: str) -> dict[str, Any]:
    return {"uuid": uuid, "name": name, "summary": summary, "labels": ["Entity"], "created_at": AT}


def edge(uuid: str, source: str, target: str, fact: str, at: str = AT, **more: str) -> dict[str, Any]:
    ends = {"source_node_uuid": source, "target_node_uuid": target}
    return {"uuid": uuid, "name": "SAYS", "fact": fact, **ends, "created_at": at, **more}
