"""What one would write by hand to send the same prompts: `python -m tests.bench.loops NAME WORK`, in any environment.

Each contender makes its client once, sends all prompts with so many in flight, reads every reply as JSON, and counts
its tokens. Nothing of Enquete is imported: its prompts come from a file. The last line printed is what was measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WARM = 20  # calls before the clock starts
PATIENCE_S = 600.0  # for connections too: openai's five seconds are too few for 256 of them on a busy machine


@dataclass(frozen=True)
class Work:
    """`prompts`: a file with one request a line (messages, and the fields beside them)."""

    prompts: str
    base_url: str
    in_flight: int
    agents: int


@dataclass(frozen=True)
class Tokens:
    read: int
    written: int


Send = Callable[[dict[str, Any]], Awaitable[Tokens]]


async def bare_aiohttp(work: Work, requests: list[dict[str, Any]]) -> dict[str, float]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=work.in_flight)
    async with aiohttp.ClientSession(connector=connector) as client:

        async def send(request: dict[str, Any]) -> Tokens:
            url = f"{work.base_url}/chat/completions"
            async with client.post(url, json={"model": "bench", **request}) as answer:
                return _read(await answer.json())

        return await _all(work, requests, send)


async def openai_httpx(work: Work, requests: list[dict[str, Any]]) -> dict[str, float]:
    return await _openai(work, requests, None)


async def openai_aiohttp(work: Work, requests: list[dict[str, Any]]) -> dict[str, float]:
    import openai

    return await _openai(work, requests, openai.DefaultAioHttpClient())


async def _openai(work: Work, requests: list[dict[str, Any]], transport: Any) -> dict[str, float]:
    import openai

    async with openai.AsyncOpenAI(
        base_url=work.base_url, api_key="none", http_client=transport, max_retries=0, timeout=PATIENCE_S
    ) as client:

        async def send(request: dict[str, Any]) -> Tokens:
            reply = await client.chat.completions.create(model="bench", **request)
            return _counted(reply.choices[0].message.content, reply.usage.prompt_tokens, reply.usage.completion_tokens)

        return await _all(work, requests, send)


async def langchain_structured(work: Work, requests: list[dict[str, Any]]) -> dict[str, float]:
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(
        model="bench", base_url=work.base_url, api_key="none", max_retries=0, timeout=PATIENCE_S,
        temperature=requests[0]["temperature"], seed=requests[0]["seed"],
        max_completion_tokens=requests[0]["max_completion_tokens"],
    )  # fmt: skip
    schema = {"title": "answer", "description": "The answers.", **_schema(requests[0])}
    asked = chat.with_structured_output(schema, method="json_schema", include_raw=True)

    async def send(request: dict[str, Any]) -> Tokens:
        reply = await asked.ainvoke(request["messages"])
        assert reply["parsed"], reply
        used = reply["raw"].usage_metadata
        return Tokens(used["input_tokens"], used["output_tokens"])

    return await _all(work, requests, send)


def _schema(request: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = request["response_format"]["json_schema"]["schema"]
    return found


def _read(body: dict[str, Any]) -> Tokens:
    used = body["usage"]
    return _counted(body["choices"][0]["message"]["content"], used["prompt_tokens"], used["completion_tokens"])


def _counted(text: str | None, read: int, written: int) -> Tokens:
    assert json.loads(text or "")
    return Tokens(read, written)


async def _all(work: Work, requests: list[dict[str, Any]], send: Send) -> dict[str, float]:
    """Warm, then measured."""
    slots = asyncio.Semaphore(work.in_flight)

    async def one(request: dict[str, Any]) -> Tokens:
        async with slots:
            return await send(request)

    for request in requests[:WARM]:
        await one(request)
    clock = Clock()
    tokens = await asyncio.gather(*(one(request) for request in requests))
    return clock.read() | {
        "calls": len(tokens),
        "read": sum(each.read for each in tokens),
        "written": sum(each.written for each in tokens),
    }


LOOPS = {
    "aiohttp": bare_aiohttp, "openai": openai_httpx, "openai-aiohttp": openai_aiohttp,
    "langchain": langchain_structured,
}  # fmt: skip


def read_requests(work: Work) -> list[dict[str, Any]]:
    with Path(work.prompts).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines][: work.agents]


class Clock:
    """From when it is made: seconds of the processor (all threads of this process) and of the wall."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def read(self) -> dict[str, float]:
        """`peak_mb`: resident at the peak of this process, 0 where the system does not say."""
        cpu, wall = time.process_time() - self._cpu, time.perf_counter() - self._wall
        own = Path("/proc/self/status")
        lines = own.read_text().splitlines() if own.exists() else []
        peak = sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        return {"cpu_s": cpu, "wall_s": wall, "peak_mb": peak * 1024 / 1e6}


def main() -> None:
    work = Work(**json.loads(sys.argv[2]))
    print(json.dumps(asyncio.run(LOOPS[sys.argv[1]](work, read_requests(work)))))


if __name__ == "__main__":
    main()
