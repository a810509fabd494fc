"""An OpenAI-compatible chat server over real HTTP that answers every schema deterministically and fails on demand.

In a test:           with ModelServer(faults={"http_500": 0.2}) as server: ... server.base_url, server.repeated()
As a process:        python -m tests.support.model_server --port 0 --faults '{"http_500": 0.2}' --log requests.jsonl
                     prints its base URL; the log is written line by line as requests arrive, so that requests of a
                     client that was killed are counted.
Endpoints:           POST /v1/chat/completions, GET /v1/models, GET /log (counts)
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from aiohttp import web

from tests.support.schema_filler import fill, schema_in_prompt, sentence
from tests.support.server_absence import Doors
from tests.support.server_faults import (
    BEFORE,
    ODD_USAGES,
    REFUSED_FIELDS,
    Draw,
    check,
    cut_body,
    error_of,
    garble,
    instead,
    spoil,
)

BYTES_PER_TOKEN = 4
Script = Callable[[dict[str, Any]], str | None]


@dataclass
class Logged:
    """One request as it arrived. `key` is what was asked (system prompt and last user message), whatever the form."""

    number: int
    time: float
    body_hash: str
    key: str
    seen: int
    model: str
    rung: str  # json_schema, json_object or prompt
    faults: list[str]
    in_flight: int
    body: dict[str, Any] = field(repr=False)
    authorization: str = field(default="", repr=False)

    def line(self) -> str:
        shown = {name: value for name, value in asdict(self).items() if name not in ("body", "authorization")}
        return json.dumps(shown, ensure_ascii=False)


class ModelServer:
    """Runs in a thread of its own between `__enter__` and `__exit__`; attributes may be changed while it runs."""

    def __init__(
        self,
        *,
        faults: Mapping[str, float] | None = None,
        seed: int = 0,
        script: Script | None = None,
        latency: float = 0.0,
        slow_s: float = 1.0,
        hang_s: float = 3600.0,
        retry_after: str = "0",
        fingerprint: str = "fp_test",
        log: Path | None = None,
        port: int = 0,
    ):
        """`latency`: seconds of every request; `slow_s`, `hang_s`: of the faults slow and timeout.

        `retry_after`: header of 429 and 503; "": none. `script` gives the text for a request body, or None for the
        usual answer. Attributes beyond these: `busy_s`, `busy_fault`, `bills`, `capacity`, `poison`,
        `failing`. Raises ValueError
        for a bad fault.
        """
        check(faults or {})
        self.faults = dict(faults or {})
        self.seed, self.script, self.latency = seed, script, latency
        self.slow_s, self.hang_s, self.retry_after = slow_s, hang_s, retry_after
        self.fingerprint = fingerprint
        self.requests: list[Logged] = []
        self.max_in_flight = 0
        self.tokens = 0
        self.other_requests = 0  # to any other path, by whatever client
        self.base_url = ""
        self.busy_s = 0.0  # from the first request on so many seconds `busy_fault`, as many answers, …; 0: never
        self.busy_fault = "http_429"
        self.calibration = 1  # times the tokens of a reply, whatever limit was named: a model that thinks
        self.poison = ""  # a question that holds this text is answered 500, always
        self.failing: dict[str, str] = {}  # model → fault that answers all its requests
        self.spared = ""  # a question that holds this text meets no fault
        self.capacity = 10**9  # requests at once; more get `busy_fault`
        self._first_asked: float | None = None
        self._in_flight = 0
        self._seen: Counter[str] = Counter()
        self._log_path, self._log_file = log, None if log is None else log.open("a", encoding="utf-8")
        self._doors = Doors(port)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._vanishing: tuple[int, float | None] | None = None
        self._stop: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the model server did not start within 10 s")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._thread.join(10)

    def count(self, fault: str | None = None, *, key: str | None = None) -> int:
        """Requests so far, of one fault or one key when named."""
        return sum(
            (fault is None or fault in request.faults) and (key is None or request.key == key)
            for request in list(self.requests)
        )

    def repeated(self) -> dict[str, int]:
        """How often each key was asked, for those asked more than once."""
        counts = Counter(request.key for request in list(self.requests))
        return {key: times for key, times in counts.items() if times > 1}

    def summary(self) -> dict[str, Any]:
        faults = Counter(fault for request in self.requests for fault in request.faults)
        return {
            "requests": len(self.requests),
            "distinct": len({request.key for request in self.requests}),
            "repeated": sum(self.repeated().values()) - len(self.repeated()),
            "max_in_flight": self.max_in_flight,
            "tokens": self.tokens,
            "faults": dict(faults),
        }

    def stop(self) -> None:
        """End `serve`, from any thread."""
        self._stop()

    def vanish(self, seconds: float | None = None, *, after: int = 0) -> None:
        """Break all connections and refuse new ones, once `after` requests have arrived; back on the same port after so
        many seconds (None: at `come_back`). From any thread."""
        if after > len(self.requests):
            self._vanishing = (after, seconds)
        else:
            self._loop.call_soon_threadsafe(self._doors.vanish, seconds)

    def come_back(self) -> None:
        """From any thread."""
        self._loop.call_soon_threadsafe(self._doors.come_back)

    def wait_for(self, requests: int, seconds: float = 120.0) -> None:
        """Block until so many requests have arrived. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while len(self.requests) < requests:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(self.requests)} of {requests} requests arrived within {seconds:g} s")
            time.sleep(0.005)

    async def serve(self, on_ready: Callable[[], object] = lambda: None) -> None:
        """Serve until stopped; sets `base_url` once the port is open, then calls `on_ready`."""
        stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._stop = lambda: self._loop.call_soon_threadsafe(stop.set)
        # Handlers end with their client, so that abandoned requests are not counted as in flight.
        runner = web.AppRunner(self._app(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await self._doors.open(runner)
            self.base_url = f"http://127.0.0.1:{self._doors.port}/v1"
            self._ready.set()
            on_ready()
            await stop.wait()
        finally:
            await self._doors.close()
            await runner.cleanup()
            if self._log_file:
                self._log_file.close()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/log", self._summary)
        app.router.add_route("*", "/{path:.*}", self._other)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "test-model", "object": "model"}]})

    async def _summary(self, request: web.Request) -> web.Response:
        return web.json_response(self.summary())

    async def _other(self, request: web.Request) -> web.Response:
        self.other_requests += 1
        return web.Response(status=404, text="404: Not Found")

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        try:
            return await self._reply(request, body, raw)
        finally:
            self._in_flight -= 1

    async def _reply(self, request: web.Request, body: dict[str, Any], raw: bytes) -> web.StreamResponse:
        body_hash = hashlib.sha256(raw).hexdigest()[:16]
        draw = Draw(self.seed, body_hash, self._seen[body_hash], self.faults)
        self._seen[body_hash] += 1
        fault = self.busy_fault if self._is_busy() else instead(draw, body)
        fault = "http_500" if self.poison and self.poison in _text(body) else fault
        fault = self.failing.get(str(body.get("model")), fault)
        fault = None if self.spared and self.spared in _text(body) else fault
        text, spoilt, cut = ("", [], False) if fault else spoil(self._answer(body), draw)
        around = (
            []
            if fault
            else [
                name for name in ("slow", "refusal", "content_filter", "missing_usage", "odd_usage") if draw.hit(name)
            ]
        )
        self._record(body, draw, [fault] if fault else spoilt + around, request.headers.get("Authorization", ""))
        if self._vanishing and len(self.requests) >= self._vanishing[0]:
            (_, seconds), self._vanishing = self._vanishing, None
            self._doors.vanish(seconds)
        await asyncio.sleep(self.latency + (self.slow_s if "slow" in around else 0.0))
        if fault:
            return await self._fail(fault, request, body, draw)
        return web.json_response(self._completion(body, text, cut, around, draw))

    def _is_busy(self) -> bool:
        self._first_asked = self._first_asked or time.monotonic()
        windows = int((time.monotonic() - self._first_asked) / self.busy_s) if self.busy_s else 1
        return windows % 2 == 0 or self._in_flight > self.capacity

    def _record(self, body: dict[str, Any], draw: Draw, faults: list[str], authorization: str) -> None:
        rung = (body.get("response_format") or {}).get("type", "prompt")
        entry = Logged(
            number=len(self.requests) + 1,
            time=time.time(),
            body_hash=draw.body_hash,
            key=_key(body),
            seen=draw.seen,
            model=str(body.get("model")),
            rung=rung,
            faults=faults,
            in_flight=self._in_flight,
            body=body,
            authorization=authorization,
        )
        self.requests.append(entry)
        if self._log_file:
            _write_line(self._log_file, entry.line())

    def _answer(self, body: dict[str, Any]) -> str:
        scripted = self.script(body) if self.script else None
        if scripted is not None:
            return scripted
        asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        schema = asked or schema_in_prompt(_text(body))
        voice = str(body.get("model")).partition("@")[2]  # model@voice answers in another one
        who = f"{self.seed}|{_system(body)}{voice}"
        if schema is None and "[RESULT]" in _text(body):
            return _judged(_text(body))
        if schema is None:
            return sentence(Draw(self.seed, who, 0, {}).number("prose"))
        return json.dumps(fill(schema, who, _text(body)), ensure_ascii=False)

    def _completion(self, body: dict[str, Any], text: str, cut: bool, around: list[str], draw: Draw) -> dict[str, Any]:
        limits = [int(body[name]) for name in REFUSED_FIELDS[:2] if name in body and not draw.hit(f"ignore_{name}")]
        room = BYTES_PER_TOKEN * min(limits, default=10**9)
        if len(text.encode("utf-8", "replace")) > room:
            text, cut = text.encode("utf-8", "replace")[:room].decode(errors="ignore"), True
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        finish = "length" if cut else "stop"
        if "refusal" in around:
            message |= {"content": None, "refusal": "I'm sorry, I can't assist with that."}
        if "content_filter" in around:
            message["content"], finish = "", "content_filter"
        read = len(_text(body).encode("utf-8", "replace")) // BYTES_PER_TOKEN
        written = self.calibration * len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN
        self.tokens += read + written
        usage: Any = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        if "odd_usage" in around:
            odd = ODD_USAGES[draw.number("usage") % len(ODD_USAGES)]
            usage = odd if draw.number("all of it") % 2 else usage | {"completion_tokens": odd}
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model"),
            "system_fingerprint": self.fingerprint,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        } | ({} if "missing_usage" in around else {"usage": usage})

    async def _fail(self, fault: str, request: web.Request, body: dict[str, Any], draw: Draw) -> web.StreamResponse:
        if fault == "garbled":
            return garble(request, draw)
        if fault == "big_body":
            return web.json_response({"choices": "a" * 6 * 2**20})
        if fault == "redirect":
            return web.Response(status=307, headers={"Location": "http://127.0.0.2:9/v1/chat/completions"})
        if fault == "timeout":
            await asyncio.sleep(self.hang_s)
        if fault == "cut_body":
            return await cut_body(request)
        if fault in ("timeout", "disconnect") and request.transport:
            request.transport.abort()
        bodies = {"empty_body": "", "html_body": "<!DOCTYPE html><html><body>Bad gateway</body></html>"}
        if fault in bodies:
            kind = "text/html" if fault == "html_body" else "application/json"
            return web.Response(text=bodies[fault], content_type=kind)
        if fault == "no_choices":
            return web.json_response(
                {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []}
            )
        wait = {"Retry-After": self.retry_after} if self.retry_after and ("429" in fault or "503" in fault) else {}
        if fault == "http_429_text":
            return web.Response(status=429, text="Too many requests", headers=wait)
        status, error = error_of(fault, body, request.headers.get("Authorization", ""))
        return web.json_response({"error": error}, status=status, headers=wait)


def _judged(text: str) -> str:
    """As a critic: of two responses always the same one, wherever it stands; else a grade, from what was said."""
    first, *others = re.findall(r"\[\[(?:response|answer):(\w+)", text)
    if others:
        return f"Feedback: closer to the person. [RESULT] {'A' if first > others[0] else 'B'}"
    return f"Feedback: plausible. [RESULT] {1 + int(first, 16) % 5}"


def _system(body: Mapping[str, Any]) -> str:
    first = body["messages"][0]
    return str(first["content"]) if first["role"] in ("system", "developer") else ""


def _text(body: Mapping[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])


def _key(body: Mapping[str, Any]) -> str:
    last = next((str(m["content"]) for m in reversed(body["messages"]) if m["role"] == "user"), "")
    parts = (_system(body), last)
    return "-".join(hashlib.sha256(part.encode("utf-8", "replace")).hexdigest()[:12] for part in parts)


def _write_line(file: TextIO, line: str) -> None:
    file.write(line + "\n")
    file.flush()


async def _serve_and_print(server: ModelServer) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, server.stop)
    await server.serve(lambda: print(server.base_url, flush=True))


def main() -> None:
    parser = argparse.ArgumentParser(description="A deterministic OpenAI-compatible server with faults.")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--faults", type=json.loads, default={}, help=f"JSON of rates; there are {', '.join(BEFORE)} …")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds of every request")
    parser.add_argument("--slow", type=float, default=1.0, help="seconds of the fault slow")
    parser.add_argument("--retry-after", default="0", help="header of 429 and 503")
    parser.add_argument(
        "--busy", type=float, default=0.0, help="429 for so many seconds, answers for as many, and so on"
    )
    parser.add_argument("--vanish", type=float, nargs=2, metavar=("REQUESTS", "SECONDS"), help="after, for how long")
    parser.add_argument("--log", type=Path, help="one JSON line per request, written as it arrives")
    chosen = parser.parse_args()
    server = ModelServer(
        faults=chosen.faults,
        seed=chosen.seed,
        latency=chosen.latency,
        slow_s=chosen.slow,
        retry_after=chosen.retry_after,
        log=chosen.log,
        port=chosen.port,
    )
    server.busy_s = chosen.busy
    if chosen.vanish:
        server.vanish(chosen.vanish[1], after=int(chosen.vanish[0]))
    try:
        asyncio.run(_serve_and_print(server))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
