"""A server's Batch API: many requests as one file, answered within 24 hours, at half the price where the provider is OpenAI.

An order is money, and placing one cannot be repeated safely. So it carries a mark (its metadata: run and mark), and whoever
does not know whether an order arrived looks for the mark before ordering again: where the reply was lost, and where the
process was killed between the order and noting its id. Uploading, polling and fetching buy nothing.
Measured by: requests that the server answered, over all batches, none of them twice (tests/models/test_models_batches.py).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

import openai
from openai.types import Batch
from pydantic import JsonValue, SecretStr

from enquete.models.faults import PASSING, Redirected, Said, connection_fault, mask, read_error
from enquete.models.wire import BoundedClient

ENDPOINT: Final = "/v1/chat/completions"
MOST_LINES, MOST_BYTES = 50_000, 200 * 10**6
"""What OpenAI takes in one file."""
LONGEST_LINE = 4 * 2**20
"""Bytes of one reply; see wire.MOST_BYTES."""
SECONDS = openai.Timeout(600.0, connect=20.0)
RUN, MARK = "enquete_run", "enquete_mark"  # metadata by which an order is found again
PAGE = 100

Stage = Literal["under way", "completed", "expired", "cancelled", "refused"]
_ENDS: dict[str, Stage] = {
    "completed": "completed", "expired": "expired", "cancelled": "cancelled", "failed": "refused",
}  # fmt: skip


@dataclass(frozen=True)
class Order:
    """A batch at the provider. `refused`: as a whole, before anything was asked; `complaint` says why. Of one that expired or was
    cancelled, requests without a reply were not bought."""

    id: str
    stage: Stage
    done: int
    failed: int
    total: int
    complaint: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What became of one request. `body`: the chat completion where `status` is 200. `status` 0: it was never asked (the batch
    expired or was cancelled first). `said`: the error's words otherwise."""

    name: str
    status: int
    body: dict[str, JsonValue]
    said: Said


class Away(Exception):
    """The server did not answer, or could not: worth asking again. `perhaps`: it may have done what was asked; `status`: of its
    answer, None where there was none."""

    def __init__(self, words: str, *, perhaps: bool = False, status: int | None = None):
        super().__init__(words)
        self.perhaps = perhaps
        self.status = status


class Denied(Exception):
    """The server refuses, whenever it is asked."""

    def __init__(self, status: int, said: Said):
        super().__init__(f"answered {status}" + (f": {said.message}" if said.message else ""))
        self.status = status
        self.said = said


class Provider:
    """The Batch API of one server. For one event loop. Methods raise Away and Denied."""

    def __init__(self, base_url: str, api_key: SecretStr | None):
        self._key = api_key.get_secret_value() if api_key else "none"
        self._client = self._made(base_url, BoundedClient(timeout=SECONDS))
        # Replies are read as they come, however many there are; a redirect would take personas elsewhere.
        self._reader = self._made(base_url, openai.DefaultAioHttpClient(timeout=SECONDS, follow_redirects=False))

    def _made(self, base_url: str, http: openai.DefaultAioHttpClient) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            base_url=base_url, api_key=self._key, http_client=http, timeout=SECONDS,
            max_retries=0,  # an order is never sent again unseen
        )  # fmt: skip

    async def upload(self, mark: str, content: bytes) -> str:
        """The file's id; `content`: lines as `line` writes them, of one model."""
        with self._sorted():
            file = await self._client.files.create(file=(f"{mark}.jsonl", content), purpose="batch")
        return file.id

    async def order(self, file: str, *, run: str, mark: str) -> Order:
        """After Away nobody knows whether it was taken: `find` it before anything else."""
        with self._sorted():
            made = await self._client.batches.create(
                input_file_id=file, endpoint=ENDPOINT, completion_window="24h", metadata={RUN: run, MARK: mark}
            )
        return self._order(made)

    async def find(self, run: str, mark: str) -> Order | None:
        """The order of this mark, if it was ever taken; the newest are looked at first. A server that does not page shows
        the same ones again: then that is all."""
        seen: set[str] = set()
        with self._sorted():
            async for listed in self._client.batches.list(limit=PAGE):
                if listed.id in seen:
                    return None
                seen.add(listed.id)
                if (listed.metadata or {}).get(RUN) == run and (listed.metadata or {}).get(MARK) == mark:
                    break
            else:
                return None
        return self._order(listed)

    async def look(self, order: str) -> Order:
        """How far it is."""
        with self._sorted():
            found = await self._client.batches.retrieve(order)
        return self._order(found)

    async def fetch(self, order: Order) -> AsyncIterator[Reply]:
        """The replies of an order that ended, in no order. A request that is in neither file has none. Lines that cannot be
        read, and those longer than any reply, are left out like those."""
        for file in order.files:
            async for text in self._lines(file):
                reply = self._reply(text)
                if reply is not None:
                    yield reply

    async def _lines(self, file: str) -> AsyncIterator[bytes]:
        rest, is_whole = b"", True
        with self._sorted():
            async with self._reader.files.with_streaming_response.content(file) as response:
                async for piece in response.iter_bytes():
                    *lines, rest = (rest + piece).split(b"\n")
                    for line in lines:
                        if is_whole and len(line) <= LONGEST_LINE:
                            yield line
                        is_whole = True
                    if len(rest) > LONGEST_LINE:
                        rest, is_whole = b"", False
        if is_whole and rest:
            yield rest

    async def aclose(self) -> None:
        await self._client.close()
        await self._reader.close()

    @contextmanager
    def _sorted(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            said = read_error(error.body, self._key)
            denied, status = Denied(error.status_code, said), error.status_code
            if status >= 500 or (status in PASSING and "insufficient_quota" not in said.code):
                raise Away(str(denied), perhaps=status >= 500, status=status) from None
            raise denied from None
        except Redirected as error:
            raise Denied(error.status, Said(mask(str(error), self._key))) from None
        except Exception as error:  # SDK, httpx and aiohttp each have their own; nothing of ours is called in here
            sent, words = connection_fault(error)
            raise Away(words, perhaps=sent) from None

    def _order(self, batch: Batch) -> Order:
        counts = batch.request_counts
        done, failed, total = (counts.completed, counts.failed, counts.total) if counts else (0, 0, 0)
        faults = (batch.errors.data if batch.errors else None) or []
        said = "; ".join(f"{fault.message} ({fault.code})" for fault in faults[:3])
        files = tuple(name for name in (batch.output_file_id, batch.error_file_id) if name)
        stage = _ENDS.get(batch.status, "under way")
        return Order(batch.id, stage, done, failed, total, mask(said, self._key), files)

    def _reply(self, text: bytes) -> Reply | None:
        try:
            line = json.loads(text)
            name, response = line["custom_id"], line.get("response") or {}
            status, body = int(response.get("status_code") or 0), response.get("body") or {}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        if not isinstance(name, str):
            return None
        if status == 200 and isinstance(body, dict):
            return Reply(name, status, body, Said(""))
        return Reply(name, status, {}, read_error(body or line.get("error"), self._key))


def line(name: str, body: Mapping[str, JsonValue]) -> bytes:
    """One request of a file."""
    asked = {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(asked, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
