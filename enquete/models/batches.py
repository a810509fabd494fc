"""A server's Batch API: many requests as one file, answered within 24 hours, at half the price where the provider is OpenAI.

An order is money, and creating one cannot be repeated safely. So it carries a mark (its metadata: run and mark), and whoever
does not know whether an order arrived looks for the mark before ordering again: in `order` where the reply was lost, and
through `find` where the process was killed between the order and noting its id. Uploading, polling and fetching buy nothing.
OpenAI takes 50,000 requests and 200 MB a file, of one model. No run orders batches yet (issue 20, point 3).
Measured by: requests that the server answered, over all batches, none of them twice (tests/models/test_models_batches.py).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import openai
from openai.types import Batch
from pydantic import JsonValue, SecretStr

from enquete.models.faults import Said, mask, read_error
from enquete.models.wire import BoundedClient

ENDPOINT: Final = "/v1/chat/completions"
MOST_FETCHED = 1_000_000_000  # bytes
SECONDS = openai.Timeout(600.0, connect=20.0)
RUN, MARK = "enquete_run", "enquete_mark"  # metadata by which an order is found again
PAGE = 100

Stage = Literal["under way", "ended", "refused"]
_ENDED = frozenset({"completed", "expired", "cancelled"})


@dataclass(frozen=True)
class Order:
    """A batch at the provider. `refused`: as a whole, before anything was asked; `complaint` says why. What ended may have
    ended early: requests without a reply were not bought."""

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
    body: Mapping[str, JsonValue]
    said: Said


class Unknown(Exception):
    """Whether the order was taken could not be found out: look for its mark again before ordering anew."""


class Provider:
    """The Batch API of one server. For one event loop. Beyond what is said, methods raise openai's errors."""

    def __init__(self, base_url: str, api_key: SecretStr | None):
        self._key = api_key.get_secret_value() if api_key else "none"
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=self._key,
            http_client=BoundedClient(timeout=SECONDS, most_bytes=MOST_FETCHED),
            max_retries=0,  # an order is never sent again unseen
            timeout=SECONDS,
        )

    async def order(self, bodies: Mapping[str, Mapping[str, JsonValue]], *, run: str, mark: str) -> Order:
        """Request bodies by name, of one model. Raises Unknown; after any other error nothing was ordered."""
        content = "".join(_line(name, body) for name, body in bodies.items()).encode()
        file = await self._client.files.create(file=(f"{mark}.jsonl", content), purpose="batch")
        try:
            made = await self._client.batches.create(
                input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h", metadata={RUN: run, MARK: mark}
            )
        except (openai.APIConnectionError, openai.InternalServerError) as error:
            return await self._perhaps_ordered(run, mark, error)
        return self._order(made)

    async def _perhaps_ordered(self, run: str, mark: str, error: openai.APIError) -> Order:
        """Not found is no proof: it may be listed a moment later."""
        try:
            found = await self.find(run, mark)
        except openai.APIError:
            found = None
        if found is None:
            raise Unknown(mask(str(error), self._key)) from None
        return found

    async def find(self, run: str, mark: str) -> Order | None:
        """The order of this mark, if it was ever taken; the newest are looked at first. A server that does not page shows
        the same ones again: then that is all."""
        seen: set[str] = set()
        async for listed in self._client.batches.list(limit=PAGE):
            if listed.id in seen:
                return None
            seen.add(listed.id)
            if (listed.metadata or {}).get(RUN) == run and (listed.metadata or {}).get(MARK) == mark:
                return self._order(listed)
        return None

    async def look(self, order: str) -> Order:
        """How far it is."""
        return self._order(await self._client.batches.retrieve(order))

    async def cancel(self, order: str) -> Order:
        """Ask for no more of it; what was answered until then is bought, and fetched once it has ended."""
        try:
            return self._order(await self._client.batches.cancel(order))
        except openai.ConflictError:  # it has ended meanwhile
            return await self.look(order)

    async def fetch(self, order: Order) -> AsyncIterator[Reply]:
        """The replies of an order that ended, in no order. A request that is in neither file has none. Lines that cannot be
        read are left out like those."""
        for file in order.files:
            content = (await self._client.files.content(file)).content
            for text in content.splitlines():
                reply = self._reply(text)
                if reply is not None:
                    yield reply

    async def aclose(self) -> None:
        await self._client.close()

    def _order(self, batch: Batch) -> Order:
        counts = batch.request_counts
        done, failed, total = (counts.completed, counts.failed, counts.total) if counts else (0, 0, 0)
        faults = (batch.errors.data if batch.errors else None) or []
        said = "; ".join(f"{fault.message} ({fault.code})" for fault in faults[:3])
        stage: Stage = "ended" if batch.status in _ENDED else "refused" if batch.status == "failed" else "under way"
        files = tuple(name for name in (batch.output_file_id, batch.error_file_id) if name)
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


def _line(name: str, body: Mapping[str, JsonValue]) -> str:
    asked = {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(asked, ensure_ascii=False, separators=(",", ":")) + "\n"
