"""A model server in a process of its own that is faster than any client: one URL a latency, replies drawn once and
kept.

http://…/0/v1, http://…/0.2/v1 and http://…/lognormal/v1 answer at once, after 200 ms, and after times like a
provider's.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import log
from typing import Any
from urllib.request import urlopen

import psutil
from aiohttp import web

from tests.bench.child_process import REPOSITORY, ours
from tests.support.schema_filler import fill, schema_in_prompt, sentence

BYTES_PER_TOKEN = 4
MEDIAN_S, SIGMA = 0.2, 0.8  # of the lognormal: mean .275 s, one in a hundred above 1.28 s
VARIANTS = 64  # of replies to one question, drawn by who is asked


class BenchServer:
    """The server's process. `cpu_s`: of its own, so far."""

    def __init__(self, process: subprocess.Popen[str]):
        assert process.stdout is not None
        self._url = process.stdout.readline().strip()
        self._process = psutil.Process(process.pid)

    def base_url(self, latency: str) -> str:
        return f"{self._url}/{latency}/v1"

    @property
    def port(self) -> int:
        return int(self._url.rpartition(":")[2])

    @property
    def answered(self) -> int:
        """Replies so far."""
        with urlopen(f"{self._url}/answered") as answer:
            return int(answer.read())

    @property
    def cpu_s(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)


@contextmanager
def bench_server() -> Iterator[BenchServer]:
    command = [sys.executable, "-m", "tests.bench.server"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=ours(), cwd=REPOSITORY) as process:
        yield BenchServer(process)


async def _answer(request: web.BaseRequest) -> web.Response:
    if request.path == "/answered":
        return web.Response(text=str(_answered.total()))
    if not request.path.endswith("/chat/completions"):
        return web.Response(status=404, text="404: Not Found")
    delay = _delay(request.path.split("/")[1])
    body = json.loads(await request.read())
    if "messages" not in body:  # whether it is there
        return web.Response(status=400, text="400: no messages")
    if delay:
        await asyncio.sleep(delay)
    said = "\n".join(str(message["content"]) for message in body["messages"])
    form = body.get("response_format") or {}
    schema = form.get("json_schema", {}).get("schema")
    text = _reply(
        json.dumps(schema) if schema else "",
        str(body["messages"][-1]["content"]),
        zlib.crc32(str(body["messages"][0]["content"]).encode()) % VARIANTS,
    )
    _answered[request.path] += 1
    read, written = tokens(said, form), len(text.encode()) // BYTES_PER_TOKEN
    return web.json_response(
        {
            "id": "chatcmpl-bench",
            "object": "chat.completion",
            "created": 1,
            "model": body.get("model"),
            "system_fingerprint": "fp_bench",
            "choices": [
                {
                    "index": 0, "message": {"role": "assistant", "content": text, "refusal": None},
                    "finish_reason": "stop", "logprobs": None,
                }
            ],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }
    )  # fmt: skip


def tokens(said: str, form: Any) -> int:
    """Of a question: a provider reads the form that is sent beside the messages too, and bills it."""
    sent = json.dumps(form, ensure_ascii=False, separators=(",", ":")) if form else ""
    return (len(said.encode()) + len(sent.encode())) // BYTES_PER_TOKEN


_answered: Counter[str] = Counter()
_draws = random.Random(0)


def _delay(latency: str) -> float:
    return _draws.lognormvariate(log(MEDIAN_S), SIGMA) if latency == "lognormal" else float(latency)


@lru_cache(maxsize=50_000)
def _reply(schema: str, asked: str, variant: int) -> str:
    form: Any = json.loads(schema) if schema else schema_in_prompt(asked)
    return json.dumps(fill(form, str(variant), asked), ensure_ascii=False) if form else sentence(variant)


async def _serve() -> None:
    runner = web.ServerRunner(web.Server(_answer, access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.to_thread(sys.stdin.read)  # whoever began it closes that, by dying at the latest


if __name__ == "__main__":
    asyncio.run(_serve())
