"""The Batch API of the model server: /v1/files and /v1/batches, as OpenAI describes them, moved by polls and not by a
clock.

A batch is validated as it is created, and every poll (GET /v1/batches/{id}) answers the next `a_poll` of its lines; the
poll that finds none left ends it. What is stored outlives `vanish` and `come_back`, as a provider's restart. A line
counts as bought, in `ModelServer.requests`, when it is answered and at no other time.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

ENDPOINT = "/v1/chat/completions"
MOST_LINES = 50_000
EXPIRED = "batch_expired"
CANCELLED = "batch_cancelled"
LASTING = frozenset({"completed", "failed", "expired", "cancelled"})

Answered = Callable[[dict[str, Any], str], tuple[int, dict[str, Any]]]
"""Of a request's body and the Authorization it came with: status and body of the response."""


@dataclass
class Job:
    """One batch. `left`: lines not yet answered; `output`, `errors`: lines of its two files."""

    shown: dict[str, Any]
    authorization: str
    left: list[dict[str, Any]]
    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Batches:
    """Attributes may be changed while the server runs; `jobs` and `files` are in the order in which they came."""

    def __init__(self, answer: Answered):
        self.a_poll = MOST_LINES  # lines that a poll answers
        self.held = False  # no poll moves anything on
        self.expires_after: int | None = None  # lines, of the next batch that gets so far; only that one
        self.fails: Callable[[str, int], bool] = lambda custom_id, time: (
            False
        )  # `time`: 0 when first asked in any batch
        self.loses_reply = False  # the next batch is created, and its creation not acknowledged
        self.lags = False  # the list shows none
        self.drops: Callable[[str], bool] = lambda custom_id: False  # answered and bought, but in no file
        self.pads: Callable[[str], int] = lambda custom_id: 0  # bytes more in its line of the output
        self.holds: int | None = None  # bytes of files of batches that go on; what would be more is refused
        self.refuses = ""  # why every batch is refused as a whole
        self.stops_at = ""  # "upload", "create", "created", "poll" or "content": who gets there waits until `go_on`
        self.stopped, self.left, self._released = threading.Event(), threading.Event(), threading.Event()
        self.jobs: dict[str, Job] = {}
        self.files: dict[str, bytes] = {}
        self.polls = 0
        self._answer = answer
        self._asked: dict[str, int] = {}

    def stop_at(self, step: str) -> None:
        self.stopped.clear()
        self.left.clear()
        self._released.clear()
        self.stops_at = step

    def go_on(self) -> None:
        """Whoever waits goes on, and nobody waits any longer."""
        self.stops_at = ""
        self._released.set()

    async def _at(self, step: str) -> None:
        if self.stops_at == step:
            self.stopped.set()
            try:
                await asyncio.to_thread(self._released.wait)
            finally:  # also when the client is gone, of which the server hears a little later
                self.left.set()

    def add_to(self, app: web.Application) -> None:
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._content)
        app.router.add_delete("/v1/files/{id}", self._forget)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._poll)
        app.router.add_post("/v1/batches/{id}/cancel", self._cancel)

    async def _upload(self, request: web.Request) -> web.Response:
        await self._at("upload")
        form = await request.post()
        file = form.get("file")
        if form.get("purpose") != "batch" or not isinstance(file, web.FileField):
            return _error(400, "a file with purpose 'batch' is expected", "purpose")
        return web.json_response(self._stored(file.file.read(), "batch"))

    async def _content(self, request: web.Request) -> web.Response:
        await self._at("content")
        content = self.files.get(request.match_info["id"])
        return _error(404, "No such File object", "id") if content is None else web.Response(body=content)

    async def _forget(self, request: web.Request) -> web.Response:
        gone = self.files.pop(request.match_info["id"], None) is not None
        return web.json_response({"id": request.match_info["id"], "object": "file", "deleted": gone})

    async def _create(self, request: web.Request) -> web.Response:
        wanted = await request.json()
        await self._at("create")
        if wanted.get("endpoint") != ENDPOINT or wanted.get("completion_window") != "24h":
            return _error(400, f"endpoint {ENDPOINT} and completion_window '24h' are expected", "endpoint")
        if wanted.get("input_file_id") not in self.files:
            return _error(400, "No such File object", "input_file_id")
        job = self._begun(wanted, request.headers.get("Authorization", ""))
        await self._at("created")
        if self.loses_reply and request.transport:
            self.loses_reply = False
            request.transport.abort()
        return web.json_response(job.shown)

    async def _list(self, request: web.Request) -> web.Response:
        """The newest first, in pages of `limit` behind `after`."""
        newest = [job.shown for job in reversed(self.jobs.values()) if not self.lags]
        after, limit = request.query.get("after"), int(request.query.get("limit", 20))
        behind = [shown["id"] for shown in newest].index(after) + 1 if after in self.jobs else 0
        page = newest[behind : behind + limit]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        return web.json_response({"object": "list", "data": page, "has_more": behind + limit < len(newest), **ends})

    async def _poll(self, request: web.Request) -> web.Response:
        job = self.jobs.get(request.match_info["id"])
        if job is None:
            return _error(404, "No such batch", "id")
        await self._at("poll")
        self.polls += 1
        if not self.held and job.shown["status"] not in LASTING:
            self._move(job)
        return web.json_response(job.shown)

    async def _cancel(self, request: web.Request) -> web.Response:
        job = self.jobs.get(request.match_info["id"])
        if job is None:
            return _error(404, "No such batch", "id")
        if job.shown["status"] in LASTING:
            return _error(409, f"Cannot cancel a batch with status '{job.shown['status']}'", "status")
        job.shown["status"] = "cancelling"
        return web.json_response(job.shown)

    def _begun(self, wanted: dict[str, Any], authorization: str) -> Job:
        lines, faults = _read(self.files[wanted["input_file_id"]])
        if self.refuses:
            lines, faults = [], [{"code": "refused", "line": None, "message": self.refuses, "param": None}]
        if self.holds is not None and self._held() + len(self.files[wanted["input_file_id"]]) > self.holds:
            lines, faults = [], [{**_fault("token_limit_exceeded", 0), "message": "Enqueued token limit reached"}]
        name = f"batch_{len(self.jobs) + 1}"
        shown: dict[str, Any] = {
            "id": name,
            "object": "batch",
            "endpoint": ENDPOINT,
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": wanted["input_file_id"],
            "metadata": wanted.get("metadata"),
            "status": "failed" if faults else "validating",
            "errors": {"object": "list", "data": faults} if faults else None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }
        self.jobs[name] = Job(shown, authorization, lines)
        return self.jobs[name]

    def _held(self) -> int:
        going_on = [job.shown["input_file_id"] for job in self.jobs.values() if job.shown["status"] not in LASTING]
        return sum(len(self.files[file]) for file in going_on)

    def _move(self, job: Job) -> None:
        """One step: answer the next lines, or end."""
        if job.shown["status"] == "cancelling":
            self._end(job, "cancelled", CANCELLED)
            return
        job.shown["status"] = "in_progress"
        for _ in range(min(self.a_poll, len(job.left))):
            if self.expires_after is not None and len(job.output) + len(job.errors) >= self.expires_after:
                self.expires_after = None
                self._end(job, "expired", EXPIRED)
                return
            self._do(job, job.left.pop(0))
        if not job.left:
            self._end(job, "completed")

    def _do(self, job: Job, line: dict[str, Any]) -> None:
        name = line["custom_id"]
        time = self._asked[name] = self._asked.get(name, -1) + 1
        if self.fails(name, time):
            status, body = 500, {"error": {"message": "The server had an error", "type": "server_error", "code": None}}
        else:
            status, body = self._answer(line["body"], job.authorization)
        came = {"status_code": status, "request_id": f"req_{name}", "body": body}
        if not self.drops(name):
            (job.output if status == 200 else job.errors).append(" " * self.pads(name) + _line(name, came, None))
        job.shown["request_counts"]["completed" if status == 200 else "failed"] += 1

    def _end(self, job: Job, status: str, code: str = "") -> None:
        """Lines that nobody answered are named among the errors, and were not bought."""
        for line in job.left:
            job.errors.append(
                _line(line["custom_id"], None, {"code": code, "message": "This request was not executed"})
            )
        job.shown["request_counts"]["failed"] += len(job.left)
        job.left.clear()
        job.shown["status"] = status
        for name, lines in (("output_file_id", job.output), ("error_file_id", job.errors)):
            if lines:
                job.shown[name] = self._stored("".join(lines).encode(), "batch_output")["id"]

    def _stored(self, content: bytes, purpose: str) -> dict[str, Any]:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        size = {"bytes": len(content), "created_at": 0, "filename": f"{name}.jsonl"}
        return {"id": name, "object": "file", "purpose": purpose, "status": "processed", **size}


def _read(content: bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines of an input file, and what a provider says against it: a line that is none, a name used twice, two
    models."""
    lines: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []
    names: set[str] = set()
    for number, text in enumerate(content.splitlines(), start=1):
        try:
            line = json.loads(text)
            ok = (line["method"], line["url"]) == ("POST", ENDPOINT) and bool(line["custom_id"])
            ok = ok and isinstance(line["body"]["messages"], list)
        except (ValueError, KeyError, TypeError):
            line, ok = {}, False
        if not ok:
            faults.append(_fault("invalid_json_line", number))
        elif line["custom_id"] in names:
            faults.append(_fault("duplicate_custom_id", number))
        elif lines and line["body"].get("model") != lines[0]["body"].get("model"):
            faults.append(_fault("mismatched_model", number))
        else:
            lines.append(line)
            names.add(line["custom_id"])
    if not lines and not faults:
        faults.append(_fault("empty_file", 0))
    if len(lines) > MOST_LINES:
        faults.append(_fault("too_many_tasks", MOST_LINES + 1))
    return ([], faults) if faults else (lines, [])


def _fault(code: str, line: int) -> dict[str, Any]:
    return {"code": code, "line": line, "message": f"{code} in line {line}", "param": None}


def _line(name: str, response: dict[str, Any] | None, error: dict[str, Any] | None) -> str:
    whole = {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": error}
    return json.dumps(whole, ensure_ascii=False) + "\n"


def _error(status: int, message: str, param: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
    return web.json_response({"error": error}, status=status)
