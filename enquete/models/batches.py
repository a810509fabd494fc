"""A server's Batch API: many requests as one file, answered within 24 hours, at half the price where the provider is
OpenAI.

An order is money, and placing one cannot be repeated safely. So it carries a mark (its metadata: run and mark), and
whoever does not know whether an order arrived looks for the mark before ordering again: where the reply was lost, and
where the process was killed between the order and noting its id. Uploading, polling and fetching buy nothing.
Measured by: requests that the server answered, over all batches, none of them twice
(tests/models/test_models_batches.py).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import openai
from openai.types import Batch
from pydantic import JsonValue, SecretStr

from enquete.models.chat_completions import ModelResponse, completed, response_from
from enquete.models.faults import (
    PASSING,
    NotRead,
    SendCounts,
    ServerError,
    Trouble,
    Unavailable,
    connection_fault,
    mask,
    read_error,
    status_fault,
)
from enquete.models.http_client import BoundedClient
from enquete.state.interview_context import Prompt

ENDPOINT: Final = "/v1/chat/completions"
MOST_LINES, MOST_BYTES = 50_000, 200 * 10**6
"""What OpenAI takes in one file."""
LONGEST_LINE = 4 * 2**20
"""Bytes of one reply; see http_client.MOST_BYTES."""
SECONDS = openai.Timeout(600.0, connect=20.0)
RUN, MARK = "enquete_run", "enquete_mark"  # metadata by which an order is found again
PAGE = 100

Stage = Literal["under way", "completed", "expired", "cancelled", "refused"]
_ENDS: dict[str, Stage] = {
    "completed": "completed", "expired": "expired", "cancelled": "cancelled", "failed": "refused",
}  # fmt: skip


@dataclass(frozen=True)
class BatchJob:
    """A batch at the provider. `refused`: as a whole, before anything was asked; `complaint` says why. Of one that
    expired or was cancelled, requests without a reply were not bought."""

    id: str
    stage: Stage
    done: int
    failed: int
    total: int
    complaint: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class BatchReply:
    """What became of one request. `body`: the chat completion where `status` is 200. `status` 0: it was never asked
    (the batch expired or was cancelled first). `told`: the error's words otherwise."""

    name: str
    status: int
    body: dict[str, JsonValue]
    told: ServerError


class Unanswered(Exception):
    """The server did not answer, or could not: worth asking again. `perhaps`: it may have done what was asked;
    `status`: of its answer, None where there was none."""

    def __init__(self, words: str, *, perhaps: bool = False, status: int | None = None):
        super().__init__(words)
        self.perhaps = perhaps
        self.status = status


class Denied(Exception):
    """The server refuses, whenever it is asked."""

    def __init__(self, status: int, told: ServerError):
        super().__init__(f"answered {status}" + (f": {told.message}" if told.message else ""))
        self.status = status
        self.told = told


class Provider:
    """The Batch API of one server. For one event loop. Methods raise Unanswered and Denied."""

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

    async def order(self, file: str, *, run: str, mark: str) -> BatchJob:
        """After Unanswered nobody knows whether it was taken: `find` it before anything else."""
        with self._sorted():
            made = await self._client.batches.create(
                input_file_id=file, endpoint=ENDPOINT, completion_window="24h", metadata={RUN: run, MARK: mark}
            )
        return self._order(made)

    async def find(self, run: str, mark: str) -> BatchJob | None:
        """The order of this mark, if it was ever taken; the newest are looked at first. A server that does not page
        shows
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

    async def look(self, order: str) -> BatchJob:
        """How far it is."""
        with self._sorted():
            found = await self._client.batches.retrieve(order)
        return self._order(found)

    async def fetch(self, order: BatchJob) -> AsyncIterator[BatchReply]:
        """The replies of an order that ended, in no order. A request that is in neither file has none. Lines that
        cannot be read, and those longer than any reply, are left out like those."""
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
            told = read_error(error.body, self._key)
            denied, status = Denied(error.status_code, told), error.status_code
            if status >= 500 or (status in PASSING and "insufficient_quota" not in told.code):
                raise Unanswered(str(denied), perhaps=status >= 500, status=status) from None
            raise denied from None
        except NotRead as error:
            if error.status is None:  # longer than any answer of its own
                raise Unanswered(str(error), perhaps=True) from None
            raise Denied(error.status, ServerError(mask(str(error), self._key))) from None
        except Exception as error:  # SDK, httpx and aiohttp each have their own; nothing of ours is called in here
            sent, words = connection_fault(error)
            raise Unanswered(words, perhaps=sent) from None

    def _order(self, batch: Batch) -> BatchJob:
        counts = batch.request_counts
        done, failed, total = (counts.completed, counts.failed, counts.total) if counts else (0, 0, 0)
        faults = (batch.errors.data if batch.errors else None) or []
        told = "; ".join(f"{fault.message} ({fault.code})" for fault in faults[:3])
        files = tuple(name for name in (batch.output_file_id, batch.error_file_id) if name)
        stage = _ENDS.get(batch.status, "under way")
        return BatchJob(batch.id, stage, done, failed, total, mask(told, self._key), files)

    def _reply(self, text: bytes) -> BatchReply | None:
        try:
            line = json.loads(text)
            name, response = line["custom_id"], line.get("response") or {}
            status, body = int(response.get("status_code") or 0), response.get("body") or {}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        if not isinstance(name, str):
            return None
        if status == 200 and isinstance(body, dict):
            return BatchReply(name, status, body, ServerError(""))
        return BatchReply(name, status, {}, read_error(body or line.get("error"), self._key))


def line(name: str, body: Mapping[str, JsonValue]) -> bytes:
    """One request of a file."""
    asked = {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(asked, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


# --- what came of a request in a batch, sorted: an answer, refused in this form, or worth another batch -------------------


class Came(NamedTuple):
    """What came of a request: its reply, None where its batch ended without one; and the batch."""

    reply: BatchReply | None
    order: BatchJob


def read(came: Came, prompt: Prompt, model: str, counts: SendCounts, key: str) -> ModelResponse:
    """Raises Refused, Trouble, and Unavailable with `outage` where somebody cancelled the batch. Counts in `counts`
    what was sent and what may have been billed."""
    reply = came.reply
    if reply is None or reply.status == 0:
        raise _unanswered(came, counts)
    counts.sends += 1
    if reply.status == 200:
        return response_from(completed(reply.body, counts), prompt, model, 0, key, counts)
    raise status_fault(reply.status, reply.told)


def _unanswered(came: Came, counts: SendCounts) -> Exception:
    """Of a batch that ran to its end every request was sent, whatever became of its reply; of any other it was not."""
    reply, order = came
    if order.stage == "cancelled":
        return paused(
            f"Batch {order.id} was cancelled at the provider after {order.done} of {order.total} requests. Resume to ask for the "
            "others in another."
        )
    if reply is None and order.stage == "completed":
        counts.sends += 1
        counts.broken += 1
        return Trouble("ended a batch without a reply to this request")
    return Trouble(reply.told.message if reply and reply.told.message else "did not get to it before its batch expired")


def paused(words: str) -> Unavailable:
    """What stops a batch would stop the next one too: the run pauses with these words."""
    return Unavailable(words, SendCounts(), outage=True)
